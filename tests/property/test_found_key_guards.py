"""Each guard of keys that nobody declared is needed: with it switched off a hand-written case fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from dbt_idivm.cost.measure import Measure
from dbt_idivm.definition import define
from dbt_idivm.definition import found_keys as candidates_by_name
from dbt_idivm.definition import keys as chosen_keys
from dbt_idivm.definition.config import ModelConfig
from dbt_idivm.definition.facts import Facts, Table
from dbt_idivm.definition.found_keys import FOUND
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import Finding, IdivmError
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh import driver, walk
from dbt_idivm.refresh.apply import incremental
from dbt_idivm.refresh.changes import read, verify_keys
from dbt_idivm.refresh.checks import found_keys, keys
from dbt_idivm.refresh.checks.keys import Check, broken_key
from dbt_idivm.refresh.decide import difference
from dbt_idivm.refresh.decide.costs import Costs
from dbt_idivm.refresh.decide.observe import Observed
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import EngineError, Outcome
from tests.property.test_found_keys import AUTO, AUTO_BY_COST, Orders, assert_holds, by_cost, play, stored
from tests.unit import test_found_keys_more as more
from tests.unit.fake_engine import FakeEngine, model

Patch = pytest.MonkeyPatch


def orders(*rows: int | None) -> Orders:
    engine = Orders()
    engine.keyed("o", *rows)
    return engine


# Cases


def a_null_at_the_build() -> None:
    play([1, None], [])


def a_value_twice_at_the_build() -> None:
    play([1, 1], [])


def a_null_arrives() -> None:
    play([1], [([1, None], "run")])


def a_value_arrives_again() -> None:
    play([1], [([1, 1], "run")])


def it_breaks_before_a_rebuild_by_cost() -> None:
    play([1], [([1, 1], "rebuild by cost")])


def it_holds_at_a_later_rebuild() -> None:
    play([1, 1], [([1], "gap")])


def it_breaks_before_a_gap() -> None:
    play([1], [([1, 1], "gap"), ([1, 1, 2], "run")])


def the_look_fails() -> None:
    engine = orders(1, 1)
    engine.fail["look for"] = EngineError("", "out of memory")
    engine.drive(AUTO)
    assert_holds(engine)


def a_declared_key_was_verified_before() -> None:
    """In the same run, of the same table. It may be NULL once."""
    engine = orders(1)
    engine.drive(AUTO_BY_COST)
    engine.write([1, None])
    run = by_cost()
    engine.drive(replace(model("select name from main.o", {"o": "id"}), name="w", identifier="w"), run)
    engine.drive(AUTO_BY_COST, run)
    assert_holds(engine)


def a_change_was_verified_for_a_declared_key() -> None:
    """In the same run. The change is too large to be fetched, so that only the look-up sees the NULL."""
    engine = orders(1)
    declared = replace(model("select name from main.o", {"o": "id"}), name="w", identifier="w")
    engine.drive(AUTO)
    engine.drive(declared)
    engine.write([1, None])
    run = Invocation()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify_keys, "_new_keys", lambda found, key, move, diff: ((None,),))
        engine.drive(declared, run)
        engine.drive(AUTO, run)
    assert_holds(engine)


def a_declared_key_is_verified_beside_it() -> None:
    """By the same statement, in a rebuild that verifies all keys."""
    engine = orders(1)
    engine.keyed("a", 1)
    sql = "select a.id, o.name from main.a join main.o on o.name = a.name"
    asked = model(sql, {"a": "id"}, keys="auto", strategy="auto", unique_key=["id"])
    engine.drive(asked)
    engine.write([1, None])
    engine.write([1], "a")
    engine.drive(asked, by_cost())
    assert_holds(engine)


def not_every_change_is_checked() -> None:
    engine = orders(1)
    asked = model("select name from main.o", keys="auto", verify="none")
    engine.drive(asked)
    engine.write([1, 1])
    engine.drive(asked)
    assert_holds(engine)


def a_table_has_no_key_says_the_config() -> None:
    engine = orders(1)
    engine.drive(model("select name from main.o", keys={"orders": []}))
    assert not [each for each in engine.labels("read") if each.startswith("look for")]


def its_column_goes() -> None:
    engine = orders(1)
    engine.drive(AUTO)
    engine.tables["main.o"].columns.pop("id")
    engine.write([1])
    assert engine.drive(AUTO).mode == "full" and stored(engine).found == {}


def its_column_is_gone_since_the_last_run() -> None:
    """Commands without an engine know the key from there, and the columns from elsewhere."""
    facts = Facts({"main.o": Table("main.o", "main.o", (Attribute("name", "string"),))}, {})
    assert chosen_keys.choose_keys(AUTO, {}, facts, {"main.o": ("id",)}) == {}


def its_column_gets_a_type_that_identifies_nothing() -> None:
    engine = orders(1)
    engine.drive(AUTO)
    engine.tables["main.o"].columns["id"] = "array<int>"
    engine.write([1])
    engine.drive(AUTO)
    assert stored(engine).found == {}


def a_table_has_no_versions() -> None:
    engine = orders(1)
    engine.tables["main.o"].provider = "parquet"
    assert engine.drive(AUTO).mode == "create" and stored(engine).found == {}


def a_merge_meets_it_broken() -> None:
    """The look at the new keys saw nothing, which another writer may cause."""
    engine = orders(1, 8)
    engine.drive(AUTO)
    engine.write([1, 1])
    engine.fail["merge into"] = EngineError("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "several rows")
    with pytest.MonkeyPatch.context() as patch:
        _changes_are_not_checked(patch)
        assert "IDIVM-428" in (engine.drive(AUTO).reason or "")


def another_thread_looks() -> None:
    engine, run, held = orders(1), Invocation(), []
    turn, answer = run.turn("keys of main.o"), engine.answer
    engine.answer = lambda each: (held.append((each.label, turn.locked())), answer(each))[1]  # type: ignore[method-assign, func-returns-value]
    engine.drive(AUTO, run)
    assert ("look for keys of main.o", True) in held


def a_named_cache_needs_it() -> None:
    engine = FakeEngine()
    engine.source("o", id="int", name="string", other="array<int>")
    engine.source("c", id="int", name="string")
    more.test_a_key_breaks_that_a_named_cache_needs(engine)


def a_rebuild_looks_at_it() -> None:
    engine = FakeEngine()
    engine.source("o", id="int", name="string", other="array<int>")
    more.test_a_rebuild_costs_the_look_at_the_keys_that_were_found(engine)


def columns_are_the_same_but_for_the_key() -> None:
    engine = orders(1)
    engine.drive(AUTO)
    assert "other keys" in (engine.drive(model("select name from main.o")).reason or "")


def it_breaks_each_time() -> None:
    """At a newer version than that at which keys were looked for."""
    engine, maintained = orders(1), driver._maintained

    def breaking(view: Observed) -> Steps[Outcome]:
        for name, columns in view.work.planned.found.items():
            raise broken_key(name, view.work.planned.keys[name], 2, (None,) * len(columns))
        return (yield from maintained(view))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "_maintained", breaking)
        assert engine.drive(AUTO).mode == "create" and stored(engine).found == {}


# Mutations


def _checks_nothing(*_: object, **__: object) -> Steps[None]:
    yield from ()


def _packed_as_declared(patch: Patch) -> None:
    packed = keys._repeated_packed
    patch.setattr(keys, "_repeated_packed", lambda *given, found: packed(*given, found=False))


def _every_candidate_holds(patch: Patch) -> None:
    def all_of(client: Any, group: Sequence[Check]) -> Steps[tuple[Check, ...]]:
        yield from ()
        return tuple(group)

    patch.setattr(found_keys, "unique_of", all_of)


def _a_failed_look_is_a_key(patch: Patch) -> None:
    ask = found_keys.unique_of

    def asked(client: Any, group: Sequence[Check]) -> Steps[tuple[Check, ...]]:
        held = yield from ask(client, group)
        return tuple(group) if held is None else held

    patch.setattr(found_keys, "unique_of", asked)


def _changes_are_not_checked(patch: Patch) -> None:
    patch.setattr(read, "verify_change", _checks_nothing)
    patch.setattr(incremental, "verify_changes", _checks_nothing)


def _new_nulls_are_a_value(patch: Patch) -> None:
    new, is_broken = verify_keys._new_keys, verify_keys.is_broken
    patch.setattr(verify_keys, "_new_keys", lambda found, key, move, diff: new(found, replace(key, found=False), move, diff))
    patch.setattr(verify_keys, "is_broken", lambda _: is_broken(()))


def _rebuilds_verify_declared_keys_only(patch: Patch) -> None:
    verify = keys.verify_all

    def some(client: Any, inputs: Any, known: Mapping[str, Key]) -> Steps[None]:
        yield from verify(client, inputs, {name: key for name, key in known.items() if not key.found})

    patch.setattr(keys, "verify_all", some)


def _an_answer_is_of_any_key(patch: Patch) -> None:
    patch.setattr(Check, "asked", property(lambda self: ("key", self.table, self.columns, self.version)))


def _an_answer_about_a_change_is_of_any_key(patch: Patch) -> None:
    patch.setattr(verify_keys, "_question", lambda move, key, limit: move.question("key change", key.columns, limit))


def _all_keys_are_alike(patch: Patch) -> None:
    def by_types(checks: Iterable[Check]) -> Iterable[Sequence[Check]]:
        found: dict[tuple[str, ...], list[Check]] = {}
        for check in checks:
            found.setdefault(check.types, []).append(check)
        return found.values()

    patch.setattr(keys, "alike", by_types)


def _found_keys_count_under_each_setting(patch: Patch) -> None:
    patch.setattr(ModelConfig, "looks_for_keys", property(lambda self: self.finds_keys))


def _each_input_may_have_a_key(patch: Patch) -> None:
    patch.setattr(walk, "without_declared_key", lambda request, configured, facts: tuple(facts.tables.values()))


def _what_was_found_stays(patch: Patch) -> None:
    def known(found: Table, columns: tuple[str, ...]) -> Key | None:
        return Key(columns, FOUND, found=True) if columns else None

    patch.setattr(chosen_keys, "_found", known)


def _of_any_type(patch: Patch) -> None:
    for module in (chosen_keys, candidates_by_name):
        patch.setattr(module, "may_identify", lambda kind: True)


def _read_columns_say_all(patch: Patch) -> None:
    def nothing(*_: object) -> Steps[None]:
        yield from ()

    patch.setattr(difference, "_other_keys", nothing)


def _keys_are_kept(patch: Patch) -> None:
    def kept(work: Any) -> Steps[Mapping[str, tuple[str, ...]]]:
        yield from ()
        return work.planned.found  # type: ignore[no-any-return]

    patch.setattr(walk, "_found_keys", kept)


def _nothing_is_given_up(patch: Patch) -> None:
    look = walk.with_found_keys

    def same(view: Observed, why: Finding, found: Mapping[str, tuple[str, ...]] | None = None) -> Steps[Observed]:
        return replace(view, reason=why) if why.code == "IDIVM-428" else (yield from look(view, why, found))

    patch.setattr(driver, "with_found_keys", same)


def _keys_are_looked_for_each_time(patch: Patch) -> None:
    look = walk.with_found_keys
    patch.setattr(driver, "with_found_keys", lambda view, why, found=None: look(view, why))


def _a_merge_says_nothing_of_keys(patch: Patch) -> None:
    patch.setattr(incremental, "_AMBIGUOUS", ("NO_SUCH_ERROR",))


def _nobody_waits(patch: Patch) -> None:
    patch.setattr(Invocation, "turn", _turn_of_nobody(Invocation.turn))


def _turn_of_nobody(turn: Callable[[Invocation, str], Any]) -> Callable[[Invocation, str], Any]:
    return lambda self, what: nullcontext() if what.startswith("keys of") and what in self._turns else turn(self, what)


def _caches_wait_for_no_key(patch: Patch) -> None:
    def never(*_: object) -> Steps[bool]:
        yield from ()
        return False

    patch.setattr(define, "_waits_for_keys", never)


def _verifying_is_free(patch: Patch) -> None:
    patch.setattr(Costs, "_verifying", Measure())


GUARDS: tuple[tuple[str, Callable[[], None], Callable[[Patch], None]], ...] = (
    ("a NULL is no value of a key, at the build", a_null_at_the_build, _packed_as_declared),
    ("a candidate has no value twice", a_value_twice_at_the_build, _every_candidate_holds),
    ("where the look fails there is no key", the_look_fails, _a_failed_look_is_a_key),
    ("each change is checked", a_value_arrives_again, _changes_are_not_checked),
    ("a NULL is no value of a key, in a change", a_null_arrives, _new_nulls_are_a_value),
    ("a rebuild by cost verifies it", it_breaks_before_a_rebuild_by_cost, _rebuilds_verify_declared_keys_only),
    ("what was asked of a declared key is another question", a_declared_key_was_verified_before, _an_answer_is_of_any_key),
    (
        "what was asked of a change for a declared key is another question",
        a_change_was_verified_for_a_declared_key,
        _an_answer_about_a_change_is_of_any_key,
    ),
    ("no key is found where changes are not checked", not_every_change_is_checked, _found_keys_count_under_each_setting),
    ("the config may say that there is no key", a_table_has_no_key_says_the_config, _each_input_may_have_a_key),
    ("its column is still there", its_column_is_gone_since_the_last_run, _what_was_found_stays),
    ("its column still has a type that identifies", its_column_gets_a_type_that_identifies_nothing, _of_any_type),
    ("keys are looked for where the view is rebuilt", it_holds_at_a_later_rebuild, _keys_are_kept),
    ("a broken key is given up", a_value_arrives_again, _nothing_is_given_up),
    ("a key that breaks again is given up", it_breaks_each_time, _keys_are_looked_for_each_time),
    ("a MERGE that fails is about keys", a_merge_meets_it_broken, _a_merge_says_nothing_of_keys),
    ("other threads wait for the answer", another_thread_looks, _nobody_waits),
    ("a named cache is left out without it", a_named_cache_needs_it, _caches_wait_for_no_key),
    ("other keys are another reason than other columns", columns_are_the_same_but_for_the_key, _read_columns_say_all),
    ("a rebuild costs the look at it", a_rebuild_looks_at_it, _verifying_is_free),
)


@pytest.mark.parametrize(("case", "switch_off"), [each[1:] for each in GUARDS], ids=[each[0] for each in GUARDS])
def test_guard_is_needed(case: Callable[[], None], switch_off: Callable[[Patch], None], monkeypatch: Patch) -> None:
    case()
    switch_off(monkeypatch)
    with pytest.raises((AssertionError, IdivmError, KeyError)):
        case()


# Where a rebuild verifies declared keys as well, keys are looked for anew.
CONSERVATIVE = (("it is verified apart from declared keys", a_declared_key_is_verified_beside_it, _all_keys_are_alike),)


@pytest.mark.parametrize(("case", "switch_off"), [each[1:] for each in CONSERVATIVE], ids=[each[0] for each in CONSERVATIVE])
def test_guard_is_stricter_than_needed(case: Callable[[], None], switch_off: Callable[[Patch], None], monkeypatch: Patch) -> None:
    switch_off(monkeypatch)
    case()


@pytest.mark.parametrize("case", [it_breaks_before_a_gap, its_column_goes, a_table_has_no_versions])
def test_other_cases(case: Callable[[], None]) -> None:
    case()

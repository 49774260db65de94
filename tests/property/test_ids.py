"""IDs and i-diffs at every operator of a view, not only at its root."""

from __future__ import annotations

import pytest
from hypothesis import given

from dbt_idivm.algebra.inference import determined_by
from dbt_idivm.passes.annotate import Facts, facts_of
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import Row
from dbt_idivm.script.net_changes import net_changes
from tests.property.coverage import RANDOM
from tests.property.directed import DIRECTED
from tests.property.drawn import drawn
from tests.property.harness import Options
from tests.property.mutations import WRONG_DEPENDENCIES, Mutation
from tests.property.nodes import Bag, Change, evaluate, idiffs_at, nodes, non_empty_base
from tests.property.profiles import fewer, is_long
from tests.property.strategies import Case, cases

PLANS = {
    "split": Options(additive=False),
    "unsplit": Options(additive=False, split=False),
    "recompute": Options(strategy="recompute"),
    "caches": Options(additive=False, everywhere=True),
}


Known = tuple[dict[str, list[Row]], ...]  # for the start and after each batch: the rows of queries by their text


def nothing_known(case: Case) -> Known:
    return tuple({} for _ in (case.start, *case.batches))


def not_determined(facts: Facts, rows: Bag) -> list[str]:
    """The functional dependencies that do not hold of the rows of an operator, with all that follows from them."""
    names = frozenset(facts.node.columns)
    wrong = []
    for left in {left for left, _ in facts.dependencies if left <= names}:
        right = sorted(determined_by(left, facts.dependencies) & names)
        pairs = zip(rows.values(tuple(sorted(left))), rows.values(tuple(right)), strict=True)
        images: dict[tuple[str, ...], tuple[str, ...]] = {}
        if any(images.setdefault(by_equality(one), by_equality(other)) != by_equality(other) for one, other in pairs):
            wrong.append(f"{facts.node.label()}: {sorted(left)} do not determine all of {right}")
    return wrong


def by_equality(row: Row) -> tuple[str, ...]:
    """The same for rows of equal values."""
    return tuple(repr(value + 0.0 if isinstance(value, float) else value) for value in row)


def check_nodes(case: Case, options: Options, known: Known) -> None:
    """Each node's IDs are unique where `unique` holds, its rows meet its functional dependencies, and its i-diffs keep their
    contract, batch by batch."""
    with drawn(case, options) as world:
        world.load(case.start)
        facts = {id(each.node): each for plan in world.maintained_tables.values() for each in facts_of(plan.root)}
        found = tuple((plan, node) for plan in world.maintained_tables.values() for node in nodes(plan.root))
        before = [evaluate(world, node, Binding(dialect=DUCKDB), known[0]) for _, node in found]
        for batch, rows in zip(case.batches, known[1:], strict=True):
            diffs = world.change(batch)
            after = [evaluate(world, node, Binding(dialect=DUCKDB), rows) for _, node in found]
            for (plan, node), old, new in zip(found, before, after, strict=True):
                binding = Binding(changes=net_changes(plan, diffs, screened=False), dialect=DUCKDB)
                base = non_empty_base(plan, binding)
                ids = new.values(node.ids)
                assert not not_determined(facts[id(node)], new)
                assert not node.unique or len(set(ids)) == len(ids), f"{node.label()}: ID {node.ids} is not a key"
                idiffs = tuple((diff, evaluate(world, diff.relation, binding, rows)) for diff in idiffs_at(node, base))
                assert not Change(node, old, new, idiffs).violations()
            before = after


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in ("unsplit", "caches") else name for name in PLANS]
)
@fewer
@given(case=cases(batches=2))
def test_every_node(name: str, case: Case) -> None:
    RANDOM.cases += 1
    check_nodes(case, PLANS[name], nothing_known(case))


@pytest.mark.deep
@pytest.mark.parametrize("name", [*DIRECTED] if is_long() else [*DIRECTED][::3])
def test_every_node_of_directed_cases(name: str) -> None:
    """In each plan without caches. These have most of their queries in common, which are run once."""
    known = nothing_known(DIRECTED[name])
    for plan in PLANS:
        if plan != "caches":
            check_nodes(DIRECTED[name], PLANS[plan], known)


@pytest.mark.parametrize("wrong", WRONG_DEPENDENCIES, ids=lambda wrong: wrong.guard)
def test_dependency_that_does_not_hold_is_found(wrong: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    case = DIRECTED[wrong.case]
    check_nodes(case, PLANS["split"], nothing_known(case))
    wrong.switch_off(monkeypatch)
    with pytest.raises(AssertionError, match="do not determine"):
        check_nodes(case, PLANS["split"], nothing_known(case))


@pytest.mark.deep
@pytest.mark.parametrize("name", [*DIRECTED] if is_long() else [*DIRECTED][::6])
def test_every_node_of_directed_cases_with_caches(name: str) -> None:
    check_nodes(DIRECTED[name], PLANS["caches"], nothing_known(DIRECTED[name]))

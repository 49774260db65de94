"""Each rewrite of the Δ-script alone: where it applies and where it must not; what is checked after each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp

from dbt_idivm import optimize as registry
from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import Compute, Filter, Pair, SemiJoin, project
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.lookups import Named, Touched
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.idiff.idiff import REC, UPD, IDiff, Kind, Origin
from dbt_idivm.operators.scan import Attribute, DiffClass, DiffRows, Scan
from dbt_idivm.optimize import OPTIMIZATIONS, REWRITES, optimizations, optimize
from dbt_idivm.optimize.check import check_naive, check_same
from dbt_idivm.optimize.look_up import look_up
from dbt_idivm.optimize.merge_distincts import merge_distincts
from dbt_idivm.optimize.merge_recomputes import merge_recomputes
from dbt_idivm.optimize.use_diff_rows import use_diff_rows
from dbt_idivm.optimize.use_net_diff import use_net_diff
from dbt_idivm.optimize.use_payload import use_payload

COLUMNS = tuple(Attribute(name, "int") for name in ("k", "x"))
A, B = Scan("a", "a", COLUMNS, ("k",)), Scan("b", "b", COLUMNS, ("k",))
KEYLESS = Scan("a", "a", COLUMNS)
POSITIVE = exp.GT(this=column("a__x"), expression=exp.Literal.number(0))


def rows(kind: DiffClass, scan: Scan = A, *names: str) -> DiffRows:
    return DiffRows(scan, kind, names or scan.columns)


def keys(kind: DiffClass, scan: Scan = A) -> Relation:
    return project(rows(kind, scan), (f"{scan.occurrence}__k",))


# --- use_payload ---


def test_use_payload() -> None:
    held = Touched(rows("del"), ("a__k",), ("a__x",), A)
    assert use_payload(held) == project(rows("del"), ("a__x",))
    assert use_payload(Touched(rows("del"), ("a__k",), (), A)) == project(rows("del"), ())


def test_use_payload_not_without_the_value() -> None:
    other = Touched(keys("upd"), ("a__k",), ("a__x",), A)
    assert use_payload(other) is other


# --- look_up ---


def test_look_up() -> None:
    node = Touched(keys("upd"), ("a__k",), ("a__x",), A)
    assert look_up(node) == project(SemiJoin(A, ("a__k",), keys("upd")), ("a__x",))


# --- use_net_diff ---


@pytest.mark.parametrize("state, classes", [("post", ("plus",)), ("pre", ("minus",)), ("any", ("plus", "minus"))])
def test_use_net_diff(state: str, classes: tuple[DiffClass, ...]) -> None:
    found = use_net_diff(SemiJoin(replace(A, state=state), ("a__k",), Distinct(keys("upd"))))
    assert isinstance(found, SemiJoin)
    expected = tuple(rows(each) for each in classes)
    assert found.child == (expected[0] if len(expected) == 1 else Concat(expected))


@pytest.mark.parametrize(
    "node",
    [
        SemiJoin(A, ("a__k",), keys("upd"), anti=True),  # the rows whose keys did not change
        SemiJoin(A, ("a__x",), project(rows("upd"), ("a__x",))),  # other rows with that value did not change
        SemiJoin(KEYLESS, ("a__k", "a__x"), rows("rec", KEYLESS)),  # other copies of the row
        SemiJoin(A, ("a__k",), Compute(keys("upd", B), (("a__k", column("b__k")),))),  # another table's keys
        SemiJoin(A, ("a__k",), Compute(rows("upd"), (("a__k", column("a__x")),))),  # a value that is no key there
        SemiJoin(A, ("a__k",), Concat((keys("upd"), project(A, ("a__k",))))),  # some keys did not change
        SemiJoin(Filter(A, POSITIVE), ("a__k",), keys("upd")),  # no table
    ],
    ids=lambda node: f"{node.label()} of {node.child.label()} by {node.keys.label()}",
)
def test_use_net_diff_not(node: SemiJoin) -> None:
    assert use_net_diff(node) is node


# --- use_diff_rows ---


@pytest.mark.parametrize(
    "asked, held",
    [
        (rows("plus"), rows("ins")),
        (rows("plus"), rows("upd")),
        (rows("minus"), rows("del")),
        (Concat((rows("plus"), rows("minus"))), rows("rec")),
        (rows("plus"), Filter(rows("upd"), POSITIVE)),
        (rows("plus"), Named("d", rows("ins"))),
    ],
)
def test_use_diff_rows(asked: Relation, held: Relation) -> None:
    assert use_diff_rows(SemiJoin(asked, ("a__k",), held)) == project(held, asked.columns)


@pytest.mark.parametrize(
    "asked, held",
    [
        (rows("plus"), rows("rec")),  # holds the old images as well
        (rows("minus"), rows("upd")),
        (rows("plus"), rows("del")),
        (Concat((rows("plus"), rows("minus"))), rows("upd")),
        (rows("plus"), keys("upd")),  # lacks a column
        (rows("plus"), Compute(rows("upd"), (("a__k", column("a__k")), ("a__x", exp.null())))),  # has another value in it
        (rows("plus"), Distinct(rows("upd"))),  # no selection: nothing is known of copies
        (A, rows("upd")),
    ],
)
def test_use_diff_rows_not(asked: Relation, held: Relation) -> None:
    node = SemiJoin(asked, ("a__k",), held)
    assert use_diff_rows(node) is node
    anti = SemiJoin(rows("plus"), ("a__k",), rows("ins"), anti=True)
    assert use_diff_rows(anti) is anti


# --- merge_distincts ---


def test_merge_distincts() -> None:
    twice = Distinct(project(Filter(Concat((Distinct(rows("ins")), rows("upd"))), POSITIVE), ("a__k",)))
    assert merge_distincts(twice) == Distinct(project(Filter(Concat((rows("ins"), rows("upd"))), POSITIVE), ("a__k",)))


def test_merge_distincts_not() -> None:
    """Pairs are more for a bag than for a set: nothing is said of them."""
    pairs = Distinct(Pair(Distinct(rows("ins")), B, exp.true()))
    assert merge_distincts(pairs) is pairs
    once = Distinct(rows("ins"))
    assert merge_distincts(once) is once


# --- merge_recomputes ---


def idiff(kind: Kind, names: tuple[str, ...], source: DiffClass) -> IDiff:
    return IDiff(kind, names, (), (), project(rows(source), names), frozenset({Origin("a", kind), Origin(source, kind)}))


def test_merge_recomputes() -> None:
    one, other = idiff(REC, ("a__x",), "ins"), idiff(REC, ("a__x",), "del")
    (merged,) = merge_recomputes((one, other))
    assert merged.origins == one.origins | other.origins
    assert merged.relation == Distinct(Concat((one.relation, other.relation)))


def test_merge_recomputes_not() -> None:
    apart = (idiff(REC, ("a__x",), "ins"), idiff(REC, ("a__k",), "del"))
    assert merge_recomputes(apart) == apart


# --- the registry, and what is checked ---


def test_names_are_unique_and_in_order() -> None:
    names = [name for name, _ in OPTIMIZATIONS]
    assert names == ["merge_recomputes", *(each.name for each in REWRITES)] and len({*names}) == len(names)


def test_steps() -> None:
    looked_up = Distinct(Touched(keys("upd"), ("a__k",), ("a__x",), A))
    naive = (IDiff(REC, ("a__x",), (), (), looked_up, frozenset({Origin("a", UPD)})),)
    steps = optimizations(naive)
    assert [name for name, _ in steps] == [name for name, _ in OPTIMIZATIONS]
    assert steps[-1][1] == optimize(naive) != naive
    with pytest.raises(AssertionError, match="touched"):
        check_naive(naive[0].relation)


def test_a_rewrite_that_changes_what_is_said_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    diffs = (idiff(REC, ("a__x",), "ins"), idiff(REC, ("a__k",), "del"))
    monkeypatch.setattr(registry, "OPTIMIZATIONS", (("forgetful", lambda idiffs: idiffs[:1]),))
    with pytest.raises(AssertionError, match="forgetful"):
        optimizations(diffs)
    text = Compute(rows("ins"), (("a__x", exp.Literal.string("7")),))
    with pytest.raises(AssertionError, match="types"):
        check_same("quoting", diffs, (diffs[0].over(text), diffs[1]))


def test_a_naive_look_up_that_is_left_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "OPTIMIZATIONS", tuple(each for each in OPTIMIZATIONS if each[0] != "look_up"))
    looked_up = Touched(keys("upd"), ("a__k",), ("a__x",), A)
    with pytest.raises(AssertionError, match="still has touched"):
        optimize((IDiff(REC, ("a__x",), (), (), looked_up, frozenset({Origin("a", UPD)})),))

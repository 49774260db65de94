"""The rule tables as data: one rule for every i-diff that can come, and docstrings that name the rules there are."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import chain, combinations

import pytest
from sqlglot import exp

from dbt_idivm.algebra.bags import Concat
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.idiff.idiff import DEL, INS, REC, UPD, IDiff, Kind, Origin
from dbt_idivm.operators import (
    OPERATORS,
    Aggregate,
    Join,
    LookUpJoin,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    Select,
    SemiAntiJoin,
    UnionAll,
    Unnest,
    Window,
)
from dbt_idivm.operators.aggregate import Call
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.operators.window import WindowCall
from dbt_idivm.passes.infer_ids import infer_ids
from dbt_idivm.passes.propagate import matching_rule

COLUMNS = tuple(Attribute(name, "int") for name in ("k", "x", "y"))
KEYED, OTHER = Scan("t0", "a", COLUMNS, ("k",)), Scan("t1", "b", COLUMNS, ("k",))
KEYLESS = Scan("t2", "c", COLUMNS)
WITH_RULES = tuple(operator for operator in OPERATORS if operator.RULES)


def plus(*names: str) -> exp.Expr:
    return exp.Add(this=column(names[0]), expression=column(names[1]))


def condition(name: str) -> exp.Expr:
    return exp.GT(this=column(name), expression=exp.Literal.number(1))


def examples() -> Iterator[Operator]:
    """Each operator over inputs with and without a key."""
    for other in (OTHER, KEYLESS):
        equal = exp.EQ(this=column("a__x"), expression=column(f"{other.occurrence}__x"))
        join = Join(KEYED, other, equal)
        yield LookUpJoin(other, KEYED, exp.EQ(this=column(f"{other.occurrence}__x"), expression=column("a__k")), "o")
        for anti in (False, True):
            yield from (SemiAntiJoin(KEYED, other, equal, anti), SemiAntiJoin(other, KEYED, equal, anti))
            yield SemiAntiJoin(other, KEYED, exp.true(), anti)
            yield from (OuterJoin(KEYED, other, equal, "o", anti), OuterJoin(other, KEYED, equal, "o", anti))
        names = (column("a__y"), column(f"{other.occurrence}__y"))
        yield from (join, Select(join, condition("a__x")), Project(join, (("sum", exp.Add(this=names[0], expression=names[1])),)))
    yield Project(KEYED, (("a__y", column("a__y")), ("sum", plus("a__x", "a__y"))))
    yield Select(KEYED, condition("a__x"))
    yield UnionAll((KEYED, OTHER), "u", ("u__k", "u__y"), (("a__k", "a__y"), ("b__k", "b__y")))
    yield Aggregate(KEYED, ("a__x",), (Call.of("n", "count"), Call.of("s", "sum", "a__y")))
    yield Aggregate(KEYED, (), (Call.of("n", "count"),))
    order = (exp.Ordered(this=column("a__y")),)
    rank = WindowCall("r", exp.Rank(), order, None, exp.DataType.build("int"), certain=True, total=True)
    yield Window(KEYED, ("a__x",), (rank,))
    for keys in (KEYED, KEYLESS):
        yield Unnest(keys, exp.Array(expressions=[column(keys.columns[0])]), "pos", ("e",), outer=False)
    yield Join(KEYED, OneRow(), exp.true())


def subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def incoming(child: Operator) -> Iterator[IDiff]:
    """I-diffs of every kind over every partition of the attributes into P, A, K and unknown."""
    rest = tuple(name for name in child.columns if name not in child.ids)
    if child.unique:
        yield idiff(child, INS, child.ids, rest, ())
    for ids in subsets(child.ids):
        for known in subsets(rest):
            yield idiff(child, DEL, ids, (), known)
            yield idiff(child, REC, ids, (), known)
            for assigned in subsets(tuple(name for name in rest if name not in known)):
                if assigned and ids:
                    yield idiff(child, UPD, ids, assigned, known)


def idiff(child: Operator, kind: Kind, ids: tuple[str, ...], assigned: tuple[str, ...], known: tuple[str, ...]) -> IDiff:
    rows = Concat((Project(child, tuple((name, column(name)) for name in ids + assigned + known)),))
    return IDiff(kind, ids, assigned, known, rows, frozenset({Origin("a", kind)}))


@pytest.mark.parametrize("node", tuple(examples()), ids=lambda node: node.label())
def test_one_rule_for_every_idiff(node: Operator) -> None:
    """Guards of one kind are exclusive and exhaustive, and the i-diffs of a rule have only attributes of the operator."""
    node = infer_ids(node)
    seen = 0
    for side, child in enumerate(node.inputs):
        for diff in incoming(child):
            for out in matching_rule(node, side, diff).build(node, side, diff):
                assert set(out.ids) <= set(node.columns) and set(out.payload) <= set(node.columns)
                assert out.origins == diff.origins
            seen += 1
    assert seen > 10


@pytest.mark.parametrize("operator", WITH_RULES, ids=lambda operator: operator.__name__)
def test_docstring_names_the_rules(operator: type[Operator]) -> None:
    text = sys.modules[operator.__module__].__doc__ or ""
    named = re.findall(r"^\| (\w+) +\| (\w+)", text, re.MULTILINE)
    assert [(name, kind) for name, kind in named if name != "rule"] == [(rule.name, rule.on.name) for rule in operator.RULES]


def test_rule_names_are_unique() -> None:
    names = [rule.name for operator in OPERATORS for rule in operator.RULES]
    assert len(set(names)) == len(names)


def test_every_operator_but_the_leaves_has_a_rule_for_each_kind() -> None:
    missing = {operator.__name__: set(Kind) - {rule.on for rule in operator.RULES} for operator in WITH_RULES}
    assert set(OPERATORS) - set(WITH_RULES) == {Scan, OneRow}
    assert {type(node) for node in examples()} == {*WITH_RULES}
    assert not any(missing.values()), missing

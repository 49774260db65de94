"""The algebra is closed: a node that leaves one question open cannot be made, and the lists of nodes are complete."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
from sqlglot import exp

from dbt_idivm import algebra, operators
from dbt_idivm.adaptation.same_rows import MATCHERS
from dbt_idivm.algebra.answers import BinaryOperator, UnaryOperator
from dbt_idivm.algebra.bags import Concat, Distinct
from dbt_idivm.algebra.core import Compute, Filter, Leaf, Pair, Probe, SemiJoin, Unary
from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.lookups import Known, Named, Touched
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.outer import OuterPair
from dbt_idivm.algebra.probe_any import ProbeAny
from dbt_idivm.algebra.relation import Relation
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
from dbt_idivm.operators.aggregate import Call, Grouped
from dbt_idivm.operators.one_row import NoRows
from dbt_idivm.operators.scan import Attribute, DiffRows
from dbt_idivm.operators.union import Branches
from dbt_idivm.operators.unnest import Unnested
from dbt_idivm.operators.window import WindowCall, Windowed
from dbt_idivm.passes.reproducible import CHECKS
from dbt_idivm.tools.dag.normal_form import MAKERS

# Nodes of Δ-scripts. A rewrite leaves nodes unchanged that it has no case for.
PLAIN = (
    Compute,
    Filter,
    Pair,
    SemiJoin,
    Probe,
    ProbeAny,
    OuterPair,
    Distinct,
    Concat,
    Named,
    Known,
    Touched,
    Grouped,
    Branches,
    Windowed,
    Unnested,
    DiffRows,
    NoRows,
)
ABSTRACT_OPERATORS = (Operator, UnaryOperator, BinaryOperator)
ABSTRACT = (Leaf, Unary, *ABSTRACT_OPERATORS)

COLUMNS = tuple(Attribute(name, "int") for name in ("k", "x"))
A, B = Scan("a", "a", COLUMNS, ("k",)), Scan("b", "b", COLUMNS, ("k",))
EQUAL = exp.EQ(this=column("a__x"), expression=column("b__x"))
LOOKED_UP = exp.EQ(this=column("a__x"), expression=column("b__k"))
ROWS = DiffRows(A, "plus", A.columns)
CALLS = (Call.of("n", "count"),)
ORDER = (exp.Ordered(this=column("a__k")),)
RANK = (WindowCall("r", exp.Rank(), ORDER, None, exp.DataType.build("int"), certain=True, total=True),)
NUMBERS = exp.GenerateSeries(start=exp.Literal.number(1), end=column("a__x"))
# One node of each class, which all tests below ask.
EXAMPLES: tuple[Relation, ...] = (
    A,
    OneRow(),
    Select(A, EQUAL.copy().transform(lambda node: column("a__k") if node == column("b__x") else node)),
    Project(A, (("a__x", column("a__x")),)),
    Join(A, B, EQUAL),
    OuterJoin(A, B, EQUAL, "o"),
    LookUpJoin(A, B, LOOKED_UP, "o"),
    SemiAntiJoin(A, B, EQUAL),
    UnionAll((A, B), "u", ("u__k",), (("a__k",), ("b__k",))),
    Aggregate(A, ("a__x",), CALLS),
    Window(A, ("a__x",), RANK),
    Windowed(ROWS, ("a__x",), RANK),
    Unnest(A, NUMBERS, "pos", ("e",), outer=False),
    Unnested(ROWS, NUMBERS, "pos", ("e",), outer=True),
    Compute(ROWS, (("a__k", column("a__k")),)),
    Filter(ROWS, exp.true()),
    Pair(ROWS, B, EQUAL),
    SemiJoin(A, ("a__k",), ROWS),
    Probe(ROWS, B, EQUAL),
    ProbeAny(ROWS, ((B, EQUAL), (B, LOOKED_UP))),
    OuterPair(ROWS, B, EQUAL, "o"),
    Distinct(ROWS),
    Concat((ROWS, ROWS)),
    Named("n", ROWS),
    Known("k", ("a__x",), (exp.DataType.build("int"),)),
    Touched(ROWS, ("a__k",), ("a__x",), A),
    Grouped(ROWS, ("a__x",), CALLS),
    Branches((ROWS, B), "u", ("u__k",), (("a__k",), ("b__k",))),
    ROWS,
    NoRows(),
)


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith((algebra.__name__, operators.__name__)):
            yield each
            yield from subclasses(each)


def test_the_lists_of_nodes_are_complete() -> None:
    found = set(subclasses(Relation))
    assert found == {*OPERATORS, *PLAIN, *ABSTRACT}
    assert {each for each in found if issubclass(each, Operator)} == {*OPERATORS, *ABSTRACT_OPERATORS}
    assert {type(each) for each in EXAMPLES} == {*OPERATORS, *PLAIN}


def test_nothing_has_a_default() -> None:
    """Neither base class answers a question for its subclasses."""
    for base in (Relation, Operator):
        own = {name for name, value in vars(base).items() if not name.startswith("_") and name != "RULES"}
        assert own == {name for name in own if getattr(vars(base)[name], "__isabstractmethod__", False)}


def test_every_node_is_concrete() -> None:
    assert not [each for each in (*OPERATORS, *PLAIN) if inspect.isabstract(each)]


@pytest.mark.parametrize("question", sorted(Operator.__abstractmethods__))
def test_a_node_without_an_answer_cannot_be_made(question: str) -> None:
    """A toy operator that answers everything but one question."""
    answers = {name: getattr(Select, name) for name in Operator.__abstractmethods__ if name != question}
    toy = cast(Any, type("Toy", (Operator,), answers))
    with pytest.raises(TypeError, match=f"abstract method '?{question}"):
        toy()
    whole = type("Whole", (Operator,), {name: getattr(Select, name) for name in Operator.__abstractmethods__})
    assert isinstance(cast(Any, whole)(), Operator)


@dataclass(frozen=True)
class Halved(Relation):
    """A toy relation with a few answers."""

    child: Relation

    def label(self) -> str:
        return "half"


def test_a_relation_without_an_answer_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract methods"):
        cast(Any, Halved)(A)


@pytest.mark.parametrize("node", EXAMPLES, ids=lambda node: type(node).__name__)
def test_answers_fit_together(node: Relation) -> None:
    """Types of all columns; expressions over the children's columns; what values come from has them; other children, plain."""
    assert set(node.types) >= set(node.columns)
    below = {name for child in node.children for name in child.columns}
    for each in node.expressions:
        assert {found.name for found in each.find_all(exp.Column)} <= below
    for source, names in node.provenance(node.columns[:1]) or ():
        assert set(names) <= set(source.columns)
    other = node.with_children(*node.children)
    assert other.columns == node.columns and (not node.children or not isinstance(other, Operator))
    if node.children and node.without_empty([None for _ in node.children]) is not None:
        assert isinstance(node, Grouped) and not node.groups


@pytest.mark.parametrize("node", [each for each in EXAMPLES if isinstance(each, Operator)], ids=lambda node: type(node).__name__)
def test_answers_of_operators_fit_together(node: Operator) -> None:
    columns = set(node.columns)
    assert node.inputs == node.children and node.with_inputs(*node.inputs) == node
    assert {*node.with_ids().ids} <= {*node.with_ids().columns}
    assert {*node.certain_types} <= {*columns, *(name for child in node.inputs for name in child.columns)}
    assert node.nullable <= columns
    assert {*node.combined} <= {*node.inputs}
    assert all(len(sources) == len(node.inputs) for _, sources in node.united)
    assert {name for name, _ in (*node.defined, *node.united)} <= columns
    assert {*node.conditions, *(definition for _, definition in node.defined)} <= {*node.expressions}
    assert node.rewritten(lambda each: each, *node.inputs) == node
    assert {*node.padded} <= {*range(len(node.inputs))}
    if node.is_select_project_join:
        assert columns == {name for name, _ in node.defined} or columns == {n for each in node.inputs for n in each.columns}
    for answer in (node.needed(frozenset(columns)), node.conditional(frozenset()), node.screened(())):
        assert len(answer) == len(node.inputs)
    for state in ("pre", "post"):
        assert {*node.in_state(state).columns} == columns
    assert {*node.in_any_state(frozenset(columns)).columns} == columns
    assert {*node.signed().columns} == {*columns, "idivm_sign"}


def test_tables_by_class_are_complete() -> None:
    """Places that need to know something of their own about each class. A missing class would be an error when it is met."""
    sources = {type(node) for node in EXAMPLES if isinstance(node, Operator) and not node.is_select_project_join}
    assert {*MATCHERS} == {*MAKERS} == sources
    assert {*CHECKS} == {*OPERATORS}


EMPTY = (
    (Pair(ROWS, B, EQUAL), (None, B), None),
    (Pair(ROWS, B, EQUAL), (ROWS, None), None),
    (SemiJoin(A, ("a__k",), ROWS), (A, None), None),
    (SemiJoin(A, ("a__k",), ROWS, anti=True), (A, None), A),
    (SemiJoin(A, ("a__k",), ROWS, anti=True), (None, ROWS), None),
    (Probe(A, ROWS, EQUAL), (A, None), None),
    (Probe(A, ROWS, EQUAL, anti=True), (A, None), A),
    (Concat((A, ROWS)), (A, None), A),
    (Concat((A, ROWS)), (None, None), None),
    (Grouped(ROWS, (), CALLS), (None,), Grouped(ROWS, (), CALLS)),
    (Grouped(ROWS, ("a__x",), CALLS), (None,), None),
    (Touched(ROWS, ("a__k",), ("a__x",), A), (None, A), None),
)


@pytest.mark.parametrize("node, children, left", EMPTY, ids=lambda each: each.label() if isinstance(each, Relation) else "")
def test_empty_children(node: Relation, children: tuple[Relation | None, ...], left: Relation | None) -> None:
    assert node.without_empty(children) == left


def test_a_branch_keeps_its_number_when_another_is_empty() -> None:
    union = Branches((ROWS, B), "u", ("u__k",), (("a__k",), ("b__k",)))
    assert union.without_empty((None, B)) == union


def test_a_semijoin_screens_its_right_rows_and_an_antijoin_not_its_left_ones() -> None:
    above = (exp.GT(this=column("a__k"), expression=exp.Literal.number(1)),)
    assert SemiAntiJoin(A, B, EQUAL).screened(above) == ((*above, EQUAL), (EQUAL,))
    assert SemiAntiJoin(A, B, EQUAL, anti=True).screened(above) == (above, (EQUAL,))
    assert UnionAll((A, B), "u", ("u__k",), (("a__k",), ("b__k",))).screened(above) == ((), ())

"""Expressions of the clock as attributes of a relation of one row.

    WHERE d >= current_date() - INTERVAL 30 DAYS        σ d ≥ c (R ⋈ clock), clock with c = CURRENT_DATE() - INTERVAL 30 DAYS

Each largest constant expression of the clock whose type is certain is one attribute of the clock. It is computed once for each
refresh. What remains in the view is an expression over an input like any other, and the rules of σ and π find what another time
changes (`operators/clock.py`). The operator that reads the clock is over R ⋈ clock. What ⟕ or ⋉ tests becomes an attribute of the
side that it belongs to. A condition of ⋈ becomes a σ above it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, conjunction, conjuncts, passing, render
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.raising import may_raise
from dbt_idivm.algebra.types import name_of_type
from dbt_idivm.algebra.written_time import clock_calls
from dbt_idivm.errors import Finding
from dbt_idivm.frontend.clock_types import constant_type, is_constant
from dbt_idivm.frontend.families import is_variable
from dbt_idivm.frontend.names import Names
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators import Join, OuterJoin, Project, Select, SemiAntiJoin, Unnest
from dbt_idivm.operators.scan import CLOCK, Attribute, Scan


@dataclass
class ClockInput:
    """The rewriting of one plan. `instead`: operator → the one that took its place."""

    names: Names
    instead: dict[Operator, Operator] = field(default_factory=dict)

    def read(self, node: Operator, needed: frozenset[str]) -> Operator:
        """The tree with the clock as an input, where attributes on which `needed` depends read it.

        A call of the clock for which there is no rule is left as it is.
        """
        found = self._read(node, needed)
        if found is not node:
            self.instead[node] = found
        return found

    def _read(self, node: Operator, needed: frozenset[str]) -> Operator:
        inputs = tuple(
            self.read(each, below) for each, below in zip(node.inputs, node.pruned(needed).needed(needed), strict=True)
        )
        same = all(one is other for one, other in zip(inputs, node.inputs, strict=True))
        node = node if same else node.with_inputs(*inputs)
        if not any(clock_calls(each) for each in _live(node, needed)):
            return node
        match node:
            case Select():
                child, (condition,) = self._joined(node.child, (node.condition,))
                return Select(child, condition)
            case Project():
                live = [name for name, _ in node.definitions if name in needed]
                child, found = self._joined(node.child, [node.by_name[name] for name in live])
                values = dict(node.definitions) | dict(zip(live, found, strict=True))
                return Project(child, tuple(values.items()))
            case Join():
                return self._above(node)
            case OuterJoin() | SemiAntiJoin():
                return self._beside(node)
            case Unnest():
                name = self.names.attribute("clock", "collection")
                child, (value,) = self._joined(node.child, (node.collection,))
                return replace(node, child=_with(child, node.child.columns, {name: value}), collection=column(name))
        return node

    def _joined(self, child: Operator, expressions: list[exp.Expr] | tuple[exp.Expr, ...]) -> tuple[Operator, list[exp.Expr]]:
        """(child ⋈ clock, the expressions over it)."""
        constants = {render(each): each for whole in expressions for each in _constants(whole)}
        kinds = {text: constant_type(each) for text, each in constants.items()}
        numbers = [f"t{number}" for number in range(1, len(constants) + 1)]
        occurrence = self.names.occurrence("clock", numbers)
        called = {text: f"{occurrence}__{number}" for text, number in zip(constants, numbers, strict=True)}
        columns = tuple(Attribute(text, name_of_type(kind)) for text, kind in kinds.items() if kind is not None)
        clock = Scan(CLOCK, occurrence, columns, (), names=tuple(called.items()))
        return Join(child, clock, exp.true()), [
            _replaced(each, lambda part: column(called[render(part)])) for each in expressions
        ]

    def _above(self, node: Join) -> Operator:
        """σ over ⋈. Parts that may fail stay behind the parts before them."""
        parts = conjuncts(node.condition)
        first = next(place for place, each in enumerate(parts) if clock_calls(each))
        is_bound = any(may_raise(each, node.types) for each in parts[first:])
        above = [each for place, each in enumerate(parts) if (is_bound and place >= first) or clock_calls(each)]
        below = [each for each in parts if not any(each is other for other in above)]
        joined = Join(node.left, node.right, conjunction(each.copy() for each in below) or exp.true())
        child, found = self._joined(joined, above)
        return Select(child, conjunction(found) or exp.true())

    def _beside(self, node: OuterJoin | SemiAntiJoin) -> Operator:
        """⟕ or ⋉ over sides that have what it tests."""
        sides, condition = [node.left, node.right], node.condition
        for place, side in enumerate(sides):
            values = {self.names.attribute("clock", "tested"): each for each in _of_side(condition, side, is_last=place == 1)}
            if not values:
                continue
            by_text = {render(each): name for name, each in values.items()}
            condition = _put(condition, by_text)
            child, found = self._joined(side, list(values.values()))
            sides[place] = _with(child, side.columns, dict(zip(values, found, strict=True)))
        return replace(node, left=sides[0], right=sides[1], condition=condition)


def expression_of(attribute: Attribute) -> exp.Expr:
    """The expression of a column of the clock. It was printed by the front end, and is read as the front end reads it."""
    tree = Text(f"SELECT {attribute.name}").parse()
    assert not isinstance(tree, Finding), attribute.name
    found: exp.Expr = tree.selects[0].unalias()
    assert render(found) == attribute.name, "an expression of the clock is not read as it was printed"
    return found


def _live(node: Operator, needed: frozenset[str]) -> Iterator[exp.Expr]:
    """The expressions on which rows and the attributes `needed` depend."""
    if isinstance(node, Project):
        yield from (value for name, value in node.definitions if name in needed)
    else:
        yield from node.expressions


def _with(child: Operator, names: tuple[str, ...], values: dict[str, exp.Expr]) -> Operator:
    return Project(child, (*passing(names), *values.items()))


def _constants(expression: exp.Expr) -> list[exp.Expr]:
    """The largest constant expressions of the clock."""
    if not clock_calls(expression):
        return []
    if is_constant(expression) and constant_type(expression) is not None:
        return [expression]
    return [found for each in expression.iter_expressions() for found in _constants(each)]


def _of_side(condition: exp.Expr, side: Operator, *, is_last: bool) -> list[exp.Expr]:
    """The largest expressions that read the clock and at most columns of this side, and do not fail; each once.

    The last side also gets the bare values of the clock that no side could compute.
    """
    found: dict[str, exp.Expr] = {}

    def look(node: exp.Expr) -> None:
        if not clock_calls(node):
            return
        read = set(attributes(node))
        is_own = bool(read) and read <= set(side.columns) and not any(map(is_variable, node.walk()))
        is_value = isinstance(node, exp.Condition) and node.arg_key != "ifs"  # a branch of CASE has no value
        is_bare = is_last and is_constant(node) and constant_type(node) is not None
        if is_bare or (is_own and is_value and not _may_raise(node, side)):
            found[render(node)] = node
        else:
            for each in node.iter_expressions():
                look(each)

    look(condition)
    return list(found.values())


def _may_raise(expression: exp.Expr, side: Operator) -> bool:
    kinds = {render(each): constant_type(each) for each in _constants(expression)}
    types = {**side.types, **{text: kind for text, kind in kinds.items() if kind is not None}}
    return may_raise(_replaced(expression, lambda each: column(render(each))), types)


def _replaced(expression: exp.Expr, by: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The expression with its constants of the clock replaced."""
    texts = {render(each): by(each) for each in _constants(expression)}
    return _substituted(expression, texts)


def _put(expression: exp.Expr, names: dict[str, str]) -> exp.Expr:
    return _substituted(expression, {text: column(name) for text, name in names.items()})


def _substituted(expression: exp.Expr, by: dict[str, exp.Expr]) -> exp.Expr:
    """The expression with the outermost parts of these texts replaced."""
    if not clock_calls(expression):
        return expression
    if render(expression) in by:
        return by[render(expression)].copy()
    whole = expression.copy()
    for each in list(whole.iter_expressions()):
        if clock_calls(each):
            each.replace(_substituted(each, by))
    return whole

"""Queries for which Spark's optimizer decides whether they see 0.0 or -0.0.

First, conditions that distinguish the two while another part of the query considers them equal:

    SELECT k, n FROM (SELECT k, f, count(*) OVER (PARTITION BY f) AS n FROM t) WHERE CAST(f AS STRING) = '-0.0'
    SELECT k FROM t WHERE f = 0.0D AND CAST(f AS STRING) = '-0.0'

Spark's optimizer treats equal values as identical. It evaluates the first condition before the window, so n only counts the rows
with -0.0. It evaluates the second for the constant 0.0, so no row is found. The meaning of such a query depends on Spark's plan
for it. A refresh is another query, and has another plan.

Second, constants in GROUP BY:

    SELECT n, count(*) AS c FROM (SELECT k, -0.0D AS n FROM t) GROUP BY n

The zero of a group is 0.0, unless the optimizer has replaced it by the constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import as_written, attributes, column, substitute
from dbt_idivm.algebra.operator import Operator, operators, operators_of
from dbt_idivm.algebra.types import Type, infer_type, inferred, is_numeric
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.lambdas import with_typed_variables
from dbt_idivm.operators import Aggregate, Project, Window

_EQUATING = (exp.EQ, exp.NullSafeEQ, exp.In)
# Their results for 0.0 and -0.0 are the same, or differ only in the sign of a zero.
_BLIND = (
    *_EQUATING,
    exp.NEQ,
    exp.NullSafeNEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Between,
    exp.Is,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.Neg,
    exp.Abs,
    exp.Round,
    exp.Floor,
    exp.Ceil,
    exp.IsNan,
    exp.Case,
    exp.If,
    exp.Coalesce,
    exp.Nullif,
    exp.Greatest,
    exp.Least,
    exp.Paren,
    exp.Dot,
)
_SIGNED = frozenset({Type.FLOAT, Type.DOUBLE, Type.UNKNOWN, Type.OBJECT})  # the last two may be or contain any type
_Types = Mapping[str, exp.DataType]


def signed_zeros(root: Operator) -> Iterator[Finding]:
    """IDIVM-235 for the first such condition, if there is one. Equalities between attributes are not traced."""
    conditions = list(_conditions(root))
    if not any(_equates(each, types) for each, types in conditions) and not any(map(_divides, operators_of(root, Window))):
        return
    telling = _telling(root)
    found = next((each for each, types in conditions if _tells(each, types) or telling & {*attributes(each)}), None)
    if found is not None:
        yield finding(235, condition=as_written(found))


def constant_zeros(root: Operator) -> Iterator[Finding]:
    """IDIVM-228 for each group attribute that is, or is computed from, a constant that may be -0.0."""
    constants: dict[str, exp.Expr] = {}  # attribute → such a constant
    known: dict[str, exp.Expr] = {}  # attribute → its definition, where that is any constant
    for node in operators(root):  # inputs first
        types = inferred({name: kind for child in node.inputs for name, kind in child.types.items()})
        if isinstance(node, Aggregate):
            for name in node.groups:
                if name in constants:
                    yield finding(228, what=f"groups by {as_written(constants[name])}, which may be -0.0")
        for name, value in node.defined:
            whole = substitute(value, {each: known.get(each) or column(each) for each in attributes(value)})
            if not attributes(whole):
                known[name] = whole
            found = _constant_zero(whole, types)
            found = found or next((constants[each] for each in attributes(value) if each in constants), None)
            if found is not None:
                constants[name] = found
        for output, sources in node.united:
            found = next((constants[each] for each in sources if each in constants), None)
            if found is not None:
                constants[output] = found


def _constant_zero(value: exp.Expr, types: _Types) -> exp.Expr | None:
    """The first part of `value` that reads no attribute and may be -0.0; all of `value`, if that part reads variables of lambdas,
    whose values may be constants."""
    whole, variables = with_typed_variables(value, types) if value.find(exp.Lambda) is not None else (value, {})
    known, reading = inferred({**types, **variables}), _reading(whole, variables)
    found = next((part for part in whole.walk() if id(part) not in reading and _may_be_negative(part, known)), None)
    return value if found is not None and not variables.keys().isdisjoint(attributes(found)) else found


def _reading(value: exp.Expr, variables: _Types) -> set[int]:
    """The ids of the nodes that contain an attribute. Each node is visited once, however many attributes are below it."""
    found: set[int] = set()
    for each in value.find_all(exp.Column):
        if each.name in variables:
            continue
        node: exp.Expr | None = each
        while node is not None and id(node) not in found:
            found.add(id(node))
            node = node.parent if node is not value else None
    return found


def _may_be_negative(node: exp.Expr, types: _Types) -> bool:
    """Whether this is a floating-point constant that may be -0.0."""
    if not isinstance(node, exp.Condition) or isinstance(node, exp.Literal | exp.Column):
        return False
    inner, negated = node.unnest(), False
    while isinstance(inner, exp.Cast | exp.Neg):
        inner, negated = inner.this.unnest(), negated or isinstance(inner, exp.Neg)
    if isinstance(inner, exp.Null):
        return False
    if isinstance(inner, exp.Literal):
        digits = inner.name.lower().partition("e")[0]
        if not ("-" in digits if inner.is_string else negated and not re.search("[1-9]", digits)):
            return False
    return _has_zeros(infer_type(node, types))


def _conditions(root: Operator) -> Iterator[tuple[exp.Expr, _Types]]:
    """The conditions of selections and joins, with the types of the attributes that they read."""
    for node in operators(root):
        for each in node.conditions:
            yield each, {name: kind for child in node.inputs for name, kind in child.types.items()}


def _equates(condition: exp.Expr, types: _Types) -> bool:
    """Whether the condition tests equality of a value that may be a zero of either sign."""
    known = inferred(types)
    return any(_has_zeros(infer_type(node.this, known)) for node in condition.find_all(*_EQUATING))


def _divides(window: Window) -> bool:
    return any(_has_zeros(window.child.types[name]) for name in window.partition)


def _telling(root: Operator) -> frozenset[str]:
    """The attributes whose value differs for 0.0 and -0.0 by more than the sign of a zero."""
    found: set[str] = set()
    for node in operators_of(root, Project):  # inputs first
        types = node.child.types
        found |= {name for name, value in node.definitions if _tells(value, types) or not found.isdisjoint(attributes(value))}
    return frozenset(found)


def _tells(expression: exp.Expr, types: _Types) -> bool:
    """Whether the expression may differ for 0.0 and -0.0 by more than the sign of a zero."""
    left = [(expression, True)]  # (part, whether everything above it ignores the sign of zeros)
    while left:
        node, is_seen_blindly = left.pop()
        if isinstance(node, exp.Column) and node.name in types and _has_zeros(types[node.name]) and not is_seen_blindly:
            return True
        below = is_seen_blindly and _is_blind(node)
        left.extend((part, below) for part in node.iter_expressions())
    return False


def _has_zeros(kind: exp.DataType) -> bool:
    """Whether values of the type may be, or contain, a zero of either sign."""
    return any(part.this in _SIGNED for part in kind.find_all(exp.DataType))


def _is_blind(node: exp.Expr) -> bool:
    if isinstance(node, exp.Cast | exp.TryCast):
        return is_numeric(node.to) or node.to.this == Type.BOOLEAN
    return isinstance(node, _BLIND)

"""Functions that the user created and lists as deterministic (config `deterministic_functions`): their calls and refusals.

A listed name covers exactly the calls that are written with it, ignoring case: `f` covers f(x), and `main.f` covers main.f(x).
Neither covers the other, because the meaning of an unqualified name depends on the current schema and on temporary functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.decimals import DIGITS
from dbt_idivm.algebra.expressions import is_qualified
from dbt_idivm.algebra.types import Type, type_of
from dbt_idivm.context import UserFunction
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.text import Text
from dbt_idivm.relation_name import name_parts, relation_name

_SPARKS_OWN = frozenset({("builtin",), ("system", "builtin")})  # the schema of built-in functions
_CASTABLE = frozenset(
    {
        *DIGITS,
        Type.DECIMAL,
        Type.FLOAT,
        Type.DOUBLE,
        Type.TEXT,
        Type.BOOLEAN,
        Type.DATE,
        Type.TIMESTAMP,
        Type.TIMESTAMPTZ,
        Type.TIMESTAMPLTZ,
        Type.TIMESTAMPNTZ,
        Type.BINARY,
    }
)
# Nodes around a call that make it read or return more than one row.
_OF_ROWS = (exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Table, exp.Lateral)


def is_built_in(name: str) -> bool:
    """Whether this is the name of one of Spark's built-in functions."""
    *schema, function = name_parts(name.lower())
    return tuple(schema) in _SPARKS_OWN or (not schema and function in functions.BUILT_IN)


def called(node: exp.Expr) -> str | None:
    """The name, with its schema, of the function that this node calls by name; None for any other node."""
    if isinstance(node, exp.Anonymous) and not is_qualified(node):
        return relation_name(node.name)
    if not isinstance(node, exp.Dot) or not isinstance(node.expression, exp.Anonymous):
        return None
    parts, left = [node.expression.name], node.this
    while isinstance(left, exp.Dot):
        parts.append(left.expression.name)
        left = left.this
    return relation_name(left.name, *reversed(parts))


def calls(tree: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """(name, node) for each call by name of a function that is not built in."""
    for node in tree.walk():
        name = called(node)
        if name is not None and not is_built_in(name):
            yield name, node


def with_types(tree: exp.Expr, known: Mapping[str, UserFunction]) -> None:
    """Cast calls to their known result types, in place, so that these are certain."""
    for name, node in list(calls(tree)) if known else []:
        kind = returned(name, known)
        if kind is not None:
            around = exp.Cast(to=kind)
            node.replace(around)
            around.set("this", node)


def returned(name: str, known: Mapping[str, UserFunction]) -> exp.DataType | None:
    """The type of a function's values; None if it is unknown, or a CAST to it might change a value."""
    function = known.get(name)
    kind = None if function is None or function.returns is None else type_of(function.returns)
    return kind.copy() if kind is not None and kind.this in _CASTABLE and not kind.find(exp.CollateColumnConstraint) else None


def refused(node: exp.Expr, name: str, text: Text) -> Finding | None:
    """Why a call of a user's function is not maintained; None if it is maintained."""
    place, source = text.place(node), text.source(node)
    if name not in text.functions:
        last = name_parts(name)[-1]
        listed = [each for each in text.listed if name_parts(each)[-1] == last]
        if name in listed:
            source += " in a view, which may not be the function of the model, because the view names no schema"
        elif listed:
            source += f" (`deterministic_functions` has `{listed[0]}`)"
        return finding(226, place, function=source)
    call = node.expression if isinstance(node, exp.Dot) else node
    above = node.parent
    if isinstance(above, _OF_ROWS) and above.this is node:
        return finding(234, place, function=source, problem="it is called as an aggregate, a window or a table function")
    if any(isinstance(each, exp.Distinct | exp.Order) for each in call.expressions):
        return finding(234, place, function=source, problem="it is called as an aggregate")
    return None

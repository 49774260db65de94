"""Functions that the user created and lists as deterministic (config `deterministic_functions`): calls, and what refuses them.

A listed name means the calls that are written with it, whatever the case: `f` means f(x), `main.f` means main.f(x). Where a
name alone leads depends on the current schema and on temporary functions, so neither means the other.
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
# What takes more than one row, or makes more than one.
_OF_ROWS = (exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls, exp.Table, exp.Lateral)


def is_built_in(name: str) -> bool:
    """Whether a name is that of one of Spark's own functions."""
    *schema, function = name_parts(name.lower())
    return tuple(schema) in _SPARKS_OWN or (not schema and function in functions.BUILT_IN)


def called(node: exp.Expr) -> str | None:
    """The name of the function that this is a call of, with its schema; None for what is no call by name."""
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
    """The calls by name in a tree, each with the name."""
    for node in tree.walk():
        name = called(node)
        if name is not None and not is_built_in(name):
            yield name, node


def with_types(tree: exp.Expr, known: Mapping[str, UserFunction]) -> None:
    """Cast calls to the types that they have, where these are known, so that they are certain; `tree` is changed in place."""
    for name, node in list(calls(tree)) if known else []:
        kind = returned(name, known)
        if kind is not None:
            around = exp.Cast(to=kind)
            node.replace(around)
            around.set("this", node)


def returned(name: str, known: Mapping[str, UserFunction]) -> exp.DataType | None:
    """The type of a function's values; None where it is not known, or a value might not be the same after a CAST to it."""
    function = known.get(name)
    kind = None if function is None or function.returns is None else type_of(function.returns)
    return kind.copy() if kind is not None and kind.this in _CASTABLE and not kind.find(exp.CollateColumnConstraint) else None


def refused(node: exp.Expr, name: str, text: Text) -> Finding | None:
    """Why a call of a user's function is not maintained; None if it is."""
    place, source = text.place(node), text.source(node)
    if name not in text.functions:
        last = name_parts(name)[-1]
        listed = [each for each in text.listed if name_parts(each)[-1] == last]
        if name in listed:
            source += ", which may be another one than in the model, as it has no schema in the view"
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

"""Scalar expressions: sqlglot trees over attribute names (`exp.Column` without a table). They are never changed in place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import cast

from sqlglot import exp

from dbt_idivm.algebra.decimals import DIGITS, MOST_DIGITS, Type
from dbt_idivm.algebra.keywords import KEYWORDS
from dbt_idivm.algebra.places import put
from dbt_idivm.algebra.types import DIALECT as DIALECT
from dbt_idivm.algebra.types import decimal_size
from dbt_idivm.algebra.variables import without_hidden

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")


def identifier(name: str) -> exp.Identifier:
    """An identifier, quoted unless it is a plain lower-case word that means nothing else in SQL."""
    quoted = not _PLAIN.match(name) or name in KEYWORDS
    return exp.Identifier(this=name, quoted=quoted)


def column(name: str, table: str | None = None) -> exp.Column:
    """The column `name`, of the source aliased `table` if given."""
    return exp.Column(this=identifier(name), table=identifier(table) if table else None)


@lru_cache(maxsize=4096)
def attribute(name: str) -> exp.Column:
    """The attribute `name` as a definition in a frozen node. All nodes share one tree, so that it is made and kept once."""
    return column(name)


def passing(names: Iterable[str]) -> tuple[tuple[str, exp.Expr], ...]:
    """The definitions of attributes that pass a π unchanged."""
    return tuple((name, attribute(name)) for name in names)


def alias(expression: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=expression.copy(), alias=identifier(name))


def attributes(expression: exp.Expr) -> tuple[str, ...]:
    """The attribute names that `expression` reads, each once, in order."""
    return tuple(dict.fromkeys(found.name for found in expression.find_all(exp.Column)))


def is_attribute(expression: exp.Expr) -> bool:
    """Whether the expression is nothing but an attribute."""
    return isinstance(expression, exp.Column) and not expression.table


def call_name(node: exp.Expr) -> str:
    """The lower-case name of a function that is called by name; "" for any other node, and
    for schema.f(x), which is not a built-in.
    """
    return "" if not isinstance(node, exp.Anonymous) or is_qualified(node) else node.name.lower()


def is_collated(expression: exp.Expr) -> bool:
    """Whether the expression contains an explicit collation."""
    return any(isinstance(node, exp.Collate) or call_name(node) == "collate" for node in expression.walk())


def is_qualified(node: exp.Expr) -> bool:
    """Whether this node is the call f(x) in schema.f(x) or catalog.schema.f(x)."""
    return isinstance(node.parent, exp.Dot) and node.parent.expression is node


def short(attribute: str) -> str:
    """The attribute's name without the prefix of its table occurrence."""
    return attribute.split("__", 1)[-1]


def substitute(expression: exp.Expr, by: Mapping[str, exp.Expr]) -> exp.Expr:
    """`expression` with each attribute replaced by its definition in `by`, which must contain all of them.

    A constant that becomes a part of the result is cast to the type that the attribute has in Spark (`as_attribute`). Lambda
    variables that would hide a definition are renamed (`without_hidden`).
    """
    if is_attribute(expression):
        return by[expression.name].copy()

    found = without_hidden(expression, by)
    whole = found.copy() if found is expression else found
    put([(node, operand(as_attribute(by[node.name]))) for node in whole.find_all(exp.Column) if not node.table])
    return whole


# Wrong without it: y / n, for a DECIMAL(10, 2) y and 3 AS n in a subquery, would become y / 3: 3.333333, not 3.3333333333333.
def as_attribute(definition: exp.Expr) -> exp.Expr:
    """The definition of an attribute in a form that can be a part of an expression: CAST(3 AS INT) for 3.

    Next to a DECIMAL, Spark gives an integer the precision of its type, but a literal only the digits that are written. Next
    to an integer, a decimal loses digits of its scale if the result would exceed 38 digits; next to a literal it does not.
    """
    inner = definition.unnest()
    negative = isinstance(inner, exp.Neg)
    literal = inner.this if negative else inner
    if not isinstance(literal, exp.Literal) or not literal.is_number:
        return definition
    if literal.is_int:
        value = int(literal.name) * (-1 if negative else 1)
        kind = next((name for name, most in _INTEGERS if -most <= value < most), None)
    else:
        digits, scale = decimal_size(literal, {}) or (0, 0)
        kind = f"decimal({digits},{scale})" if _LONGEST_FRACTION < scale <= MOST_DIGITS else None
    return definition if kind is None else exp.Cast(this=inner.copy(), to=exp.DataType.build(kind, dialect=DIALECT))


_INTEGERS = (("int", 1 << 31), ("bigint", 1 << 63))  # type of an integer literal, smallest number beyond it
_LONGEST_FRACTION = MOST_DIGITS - DIGITS[Type.BIGINT]  # the largest scale kept in full next to any integer


def operand(expression: exp.Expr) -> exp.Expr:
    """A copy of `expression` to be used inside another one: in parentheses if operator precedence requires it."""
    return exp.Paren(this=expression.copy()) if isinstance(expression, _COMPOUND) else expression.copy()


_COMPOUND = (exp.Binary, exp.Not, exp.Neg, exp.BitwiseNot, exp.Between, exp.In)


def owned(tree: exp.Expr) -> exp.Expr:
    """`tree`, ready to become part of a larger tree: itself, or a copy if it has a parent already.

    Copying always would copy a query once for each query around it.
    """
    return tree if tree.parent is None else tree.copy()


def conjunction(conditions: Iterable[exp.Expr]) -> exp.Expr | None:
    """AND of the conditions; None if there are none. A part that is not a condition, such as
    an interval, is left for Spark to refuse.
    """
    parts = [part if isinstance(part, exp.Condition) else exp.Paren(this=part) for part in map(owned, conditions)]
    return cast("exp.Expr | None", exp.and_(*parts, copy=False)) if parts else None


def conjuncts(condition: exp.Expr) -> tuple[exp.Expr, ...]:
    """The AND-ed parts of a condition; () for TRUE."""
    if isinstance(condition, exp.Boolean) and condition.this:
        return ()
    return tuple(condition.flatten()) if isinstance(condition, exp.And) else (condition,)


def same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """`left <=> right`: IDs, groups and keys always compare NULL-safely."""
    return exp.NullSafeEQ(this=operand(left), expression=operand(right))


def all_same(names: Iterable[str], left: Callable[[str], exp.Expr], right: Callable[[str], exp.Expr]) -> tuple[exp.Expr, ...]:
    return tuple(same(left(name), right(name)) for name in names)


def render(expression: exp.Expr) -> str:
    """The expression as text, for printed trees."""
    if isinstance(expression, exp.Null) and not expression.comments:
        return "NULL"  # shortcut: a ∪ of n branches has n² of them, and sqlglot takes as long for NULL as for a condition
    return expression.sql(dialect=DIALECT)


def as_written(expression: exp.Expr) -> str:
    """The expression as text, with short attribute names, as the user may have written it."""
    return render(expression.transform(lambda node: column(short(node.name)) if isinstance(node, exp.Column) else node))

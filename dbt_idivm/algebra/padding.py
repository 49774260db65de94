"""NULLs in the place of attributes, of the attributes' types: what is computed from them has the type that it has beside values.

A type that is not certain is not written down, because one that is inferred, and wrong, would change the values beside it. Spark
finds it: `CASE WHEN FALSE THEN y * q END`, of y and q as NULLs. max(y) has the type of y, and an attribute of ∪ that of coalesce
over those of its parts. Of a sum a number is written down, or it is `(SELECT sum(…))` of NULLs.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, substitute
from dbt_idivm.algebra.inference import stored_type, typed_null
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import Type, is_exact_number

_NUMBERS = frozenset({Type.DOUBLE, Type.BIGINT, Type.INT})


@runtime_checkable
class Computing(Protocol):
    """A relation with attributes that no child has."""

    def like(self, name: str) -> exp.Expr:
        """An expression, or an aggregate, over the attributes of the children that has the type of an attribute."""
        ...


# Wrong as a mere NULL: coalesce(n, 3) of n = y * q is an INT then, and y / coalesce(n, 3) has other digits.
def null_of(relation: Relation, name: str) -> exp.Expr:
    """NULL in the place of an attribute of a relation. It has no type where nobody knows that of the attribute."""
    certain = typed_null(getattr(relation, "certain_types", {}).get(name))
    if certain is not None:
        return certain
    kind = relation.types.get(name)
    if not relation.children:
        return typed_null(None if kind is None else stored_type(kind)) or exp.null()
    like = relation.like(name) if isinstance(relation, Computing) else column(name)
    if isinstance(like, exp.Column):
        return null_of(_source(relation, like.name), like.name)
    is_sum = like.find(exp.AggFunc) is not None
    if is_sum and kind is not None and (kind.this in _NUMBERS or (is_exact_number(kind) and kind.expressions)):
        return exp.Cast(this=exp.null(), to=kind.copy())
    of_nulls = substitute(like, {each: null_of(_source(relation, each), each) for each in attributes(like)})
    value = exp.Subquery(this=exp.Select(expressions=[of_nulls])) if is_sum else of_nulls
    return exp.Case(ifs=[exp.If(this=exp.false(), true=value)])


def _source(relation: Relation, name: str) -> Relation:
    """The child that has the attribute."""
    return next(child for child in relation.children if name in child.columns)

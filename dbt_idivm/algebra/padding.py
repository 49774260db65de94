"""Typed NULLs that stand for attributes, so that expressions over them have the same type as expressions over values.

A type is cast to only if it is certain: a wrong inferred type would change the values beside it. Otherwise Spark infers it from
`CASE WHEN FALSE THEN y * q END`, where y and q are NULLs in turn. max(y) has the type of y. An attribute of ∪ has the type of
coalesce over the parts' attributes. For a sum the inferred numeric type is used, or else `(SELECT sum(…))` over NULLs.
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
    """A relation with attributes that none of its children has."""

    def like(self, name: str) -> exp.Expr:
        """An expression or aggregate over the children's attributes that has the type of the attribute `name`."""
        ...


# Wrong with a bare NULL: for n = y * q, coalesce(n, 3) would be an INT, and y / coalesce(n, 3) would have another scale.
def null_of(relation: Relation, name: str) -> exp.Expr:
    """A NULL of the type of an attribute of a relation. It is untyped if the type of the attribute is unknown."""
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
    """The child of `relation` that has the attribute `name`."""
    return next(child for child in relation.children if name in child.columns)

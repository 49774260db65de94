"""NULLs in the place of attributes, of the attributes' types: what is computed from them has the type that it has beside values.

A type that is not certain is not written down, because one that is inferred, and wrong, would change the values beside it. Spark
finds it: `CASE WHEN FALSE THEN y * q END`, of y and q as NULLs.
"""

from __future__ import annotations

from sqlglot import exp

from dbt_idivm.algebra.core import Compute
from dbt_idivm.algebra.expressions import attributes, substitute
from dbt_idivm.algebra.inference import stored_type, typed_null
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import Type, is_exact_number

_NUMBERS = frozenset({Type.DOUBLE, Type.BIGINT, Type.INT})


# Wrong as a mere NULL: coalesce(n, 3) of n = y * q is an INT then, and y / coalesce(n, 3) has other digits.
def null_of(relation: Relation, name: str) -> exp.Expr:
    """NULL in the place of an attribute of a relation. It has no type where nobody knows that of the attribute."""
    certain = typed_null(getattr(relation, "certain_types", {}).get(name))
    if certain is not None:
        return certain
    kind = relation.types.get(name)
    if not relation.children:
        return typed_null(None if kind is None else stored_type(kind)) or exp.null()
    if isinstance(relation, Compute):
        definition = dict(relation.definitions)[name]
        if isinstance(definition, exp.Column):
            return null_of(relation.child, definition.name)
        of_nulls = substitute(definition, {each: null_of(relation.child, each) for each in attributes(definition)})
        return exp.Case(ifs=[exp.If(this=exp.false(), true=of_nulls)])
    source = next((child for child in relation.children if name in child.columns), None)
    if source is not None:
        return null_of(source, name)
    # of a sum, or of a ∪: beside numbers the right one, or one that is nearer than none
    is_number = kind is not None and (kind.this in _NUMBERS or (is_exact_number(kind) and bool(kind.expressions)))
    return (typed_null(kind) if is_number else None) or exp.null()

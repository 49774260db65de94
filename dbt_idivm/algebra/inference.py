"""What follows from an expression or a condition for attributes: certain types, NULLs, functional dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, conjuncts
from dbt_idivm.algebra.types import is_text

# (attributes, the attributes that they determine): rows that are equal in the former are equal in the latter
Dependency = tuple[frozenset[str], frozenset[str]]

VOID = exp.DataType(this=exp.DataType.Type.NULL)
_TEXT = exp.DataType.build("string", dialect="spark")
_REJECTING = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def stored_type(kind: exp.DataType) -> exp.DataType:
    """The type that a stored column has in a query: VARCHAR(n) is read as STRING."""
    return _TEXT if is_text(kind) else kind


def certain_type(expression: exp.Expr, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
    """The type of an expression where it is certain, without inference by functions. `below`: attribute → certain type."""
    if isinstance(expression, exp.Column):
        return below.get(expression.name)
    if isinstance(expression, exp.Paren):
        return certain_type(expression.this, below)
    if isinstance(expression, exp.Cast):
        return stored_type(expression.to)
    if isinstance(expression, exp.Literal):
        small = expression.is_int and abs(int(expression.name)) < 2**31
        return _TEXT if expression.is_string else exp.DataType.build("int") if small else None
    if isinstance(expression, exp.Boolean):
        return exp.DataType.build("boolean")
    return VOID if isinstance(expression, exp.Null) else None


def may_be_null(expression: exp.Expr, nullable: frozenset[str]) -> bool:
    """Whether an expression may be NULL if, of the attributes, only `nullable` may. True if that is unknown."""
    whole = expression.unnest()
    if isinstance(whole, exp.Column):
        return whole.name in nullable
    return not isinstance(whole, exp.Literal | exp.Boolean)


def rejects_null(condition: exp.Expr) -> frozenset[str]:
    """The attributes that are not NULL where the condition is true: those that it compares by themselves."""
    found: set[str] = set()
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, _REJECTING):
            found.update(side.name for side in (part.left.unnest(), part.right.unnest()) if isinstance(side, exp.Column))
        elif isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Is):
            test = part.this.unnest()
            if isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Null):
                found.add(test.this.name)
    return frozenset(found)


def equalities(condition: exp.Expr) -> Iterator[Dependency]:
    """`a = f(b, c)`: b and c determine a; an attribute that equals a constant is determined by nothing."""
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, exp.EQ | exp.NullSafeEQ):
            for one, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(one, exp.Column):
                    yield frozenset(attributes(other)), frozenset({one.name})


def equal_attributes(condition: exp.Expr) -> Iterator[tuple[str, str]]:
    """`a = b`: pairs of attributes that are equal where the condition is true."""
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, exp.EQ | exp.NullSafeEQ) and isinstance(part.left, exp.Column) and isinstance(part.right, exp.Column):
            yield part.left.name, part.right.name


def determined_by(known: frozenset[str], dependencies: tuple[Dependency, ...]) -> frozenset[str]:
    """The closure: all attributes that `known` determine."""
    while True:
        more = known.union(*(right for left, right in dependencies if left <= known))
        if more == known:
            return known
        known = more

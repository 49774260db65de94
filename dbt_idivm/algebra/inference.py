"""Facts about attributes that follow from an expression or a condition: certain types, NULLs, functional dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import exp

from dbt_idivm.algebra.decimals import DIGITS, is_integral
from dbt_idivm.algebra.expressions import attributes, call_name, conjuncts
from dbt_idivm.algebra.types import Type, alternatives, equal_is_identical, is_text

# A functional dependency (determinant, dependent): rows that agree on the former agree on the latter.
Dependency = tuple[frozenset[str], frozenset[str]]

VOID = exp.DataType(this=exp.DataType.Type.NULL)
_TEXT = exp.DataType.build("string", dialect="spark")
# Values of _NEVER_MERGED types stay distinct in every type that they are converted to for a comparison; values of the keys of
# _KEPT_APART stay distinct in the types listed there.
_NEVER_MERGED = frozenset({Type.TINYINT, Type.SMALLINT, Type.BOOLEAN})
_KEPT_APART = {Type.INT: frozenset({Type.DOUBLE, Type.DECIMAL, Type.TEXT}), Type.DATE: frozenset({Type.TEXT})}
_REJECTING = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def stored_type(kind: exp.DataType) -> exp.DataType:
    """The type that a stored column has in a query: VARCHAR(n) is read as STRING."""
    return _TEXT if is_text(kind) else kind


def typed_null(kind: exp.DataType | None) -> exp.Expr | None:
    """NULL cast to a certain type; None if the type is not certain or has parts of the type of a bare NULL."""
    if kind is None or any(part == VOID for part in kind.find_all(exp.DataType)):
        return None
    return exp.Cast(this=exp.null(), to=kind.copy())


def certain_type(expression: exp.Expr, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
    """The type of an expression if it is certain; None otherwise. Function results are never certain; a CASE's is, if its
    branches have the same type.

    `below`: attribute → certain type.
    """
    inner = expression.unnest()
    if isinstance(inner, exp.Column):
        return below.get(inner.name)
    if isinstance(inner, exp.Cast):
        return stored_type(inner.to)
    if isinstance(inner, exp.Literal):
        small = inner.is_int and abs(int(inner.name)) < 2**31
        return _TEXT if inner.is_string else exp.DataType.build("int") if small else None
    if isinstance(inner, exp.Boolean):
        return exp.DataType.build("boolean")
    if isinstance(inner, exp.Add | exp.Sub | exp.Mul | exp.Mod):  # the result of integral types has the wider one
        sides = [certain_type(side, below) for side in (inner.left, inner.right)]
        known = [side for side in sides if side is not None and is_integral(side)]
        return max(known, key=lambda side: DIGITS[side.this]) if len(known) == 2 else None
    if isinstance(inner, exp.Case):
        kinds = {certain_type(each, below) for each in alternatives(inner)} - {VOID}
        return kinds.pop() if len(kinds) == 1 else None
    if isinstance(inner, exp.Struct):
        return _certain_struct(inner, below)
    return VOID if isinstance(inner, exp.Null) else None


def _certain_struct(value: exp.Struct, below: Mapping[str, exp.DataType]) -> exp.DataType | None:
    fields = []
    for each in value.expressions:
        kind = certain_type(each.expression, below) if isinstance(each, exp.PropertyEQ) else None
        if kind is None:
            return None
        fields.append(exp.ColumnDef(this=each.this.copy(), kind=kind.copy()))
    return exp.DataType(this=Type.STRUCT, expressions=fields, nested=True)


def may_be_null(expression: exp.Expr, nullable: frozenset[str]) -> bool:
    """Whether an expression may be NULL if only the attributes `nullable` may be NULL. True if in doubt."""
    whole = expression.unnest()
    if isinstance(whole, exp.Column):
        return whole.name in nullable
    return not isinstance(whole, exp.Literal | exp.Boolean)


def rejects_null(condition: exp.Expr) -> frozenset[str]:
    """The attributes that cannot be NULL in a row for which the condition is true: those that it compares directly."""
    found: set[str] = set()
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, _REJECTING):
            found.update(side.name for side in (part.left.unnest(), part.right.unnest()) if isinstance(side, exp.Column))
        elif isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Is):
            test = part.this.unnest()
            if isinstance(test.this, exp.Column) and isinstance(test.expression, exp.Null):
                found.add(test.this.name)
    return frozenset(found)


def equals_one(mine: exp.DataType | None, theirs: exp.DataType | None) -> bool:
    """Whether a value of type `theirs` can equal at most one value of type `mine`. Types are certain ones, or None.

    Counter-examples: the texts '1' and '01' equal one INT; two INTs equal one FLOAT; two DATEs equal one TIMESTAMP in a time
    zone that skipped a day.
    """
    if mine is not None and mine.this in _NEVER_MERGED:
        return True
    if mine is None or theirs is None:
        return False
    exact = _KEPT_APART.get(mine.this, frozenset())
    return mine == theirs or (is_integral(mine) and is_integral(theirs)) or theirs.this in exact


# Wrong without the types: 0.0 and -0.0 are equal, and their texts are not.
def is_function_of_values(expression: exp.Expr, certain: Mapping[str, exp.DataType]) -> bool:
    """Whether equal values of the attributes that the expression reads always give the same result."""
    return are_identical(attributes(expression), certain)


def are_identical(names: Iterable[str], certain: Mapping[str, exp.DataType]) -> bool:
    """Whether equal values of these attributes are identical. `certain`: attribute → certain type."""
    return all(name in certain and equal_is_identical(certain[name]) for name in names)


def parts_of_value(value: exp.Expr) -> frozenset[str]:
    """The attributes that a value determines: the attribute itself, or those that are fields of a struct, at any depth."""
    inner = value.unnest()
    if isinstance(inner, exp.Column):
        return frozenset({inner.name})
    if isinstance(inner, exp.PropertyEQ):
        return parts_of_value(inner.expression)
    is_struct = isinstance(inner, exp.Struct | exp.Tuple) or call_name(inner) == "named_struct"
    return frozenset[str]().union(*map(parts_of_value, inner.expressions)) if is_struct else frozenset()


def equalities(condition: exp.Expr, certain: Mapping[str, exp.DataType]) -> Iterator[Dependency]:
    """Functional dependencies that follow from equalities in a condition.

    `a = f(b, c)`: b and c determine a, if their value equals at most one value of a's type. `a = 1`: a is constant, so its
    determinant is the empty set.
    """
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, exp.EQ | exp.NullSafeEQ):
            for one, other in ((part.left.unnest(), part.right.unnest()), (part.right.unnest(), part.left.unnest())):
                fixed = isinstance(other, exp.Column) or is_function_of_values(other, certain)
                if isinstance(one, exp.Column) and fixed and equals_one(certain.get(one.name), certain_type(other, certain)):
                    yield frozenset(attributes(other)), frozenset({one.name})


def equal_attributes(condition: exp.Expr) -> Iterator[tuple[str, str]]:
    """Pairs of attributes that are equal in each row for which the condition is true."""
    for part in (each.unnest() for each in conjuncts(condition.unnest())):
        if isinstance(part, exp.EQ | exp.NullSafeEQ) and isinstance(part.left, exp.Column) and isinstance(part.right, exp.Column):
            yield part.left.name, part.right.name


def determined_by(known: frozenset[str], dependencies: tuple[Dependency, ...]) -> frozenset[str]:
    """The closure of `known` under the dependencies: all attributes that they determine, including themselves."""
    while True:
        more = known.union(*(right for left, right in dependencies if left <= known))
        if more == known:
            return known
        known = more

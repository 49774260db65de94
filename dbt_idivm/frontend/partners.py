"""EXISTS and IN as values: a join with the groups of a subquery's rows that equalities select, and whether a group has rows.

    a OR EXISTS (SELECT … FROM r WHERE r.k = l.k)      l ⟕_{k = l.k} γ_{k; count(*)}(r), COALESCE(count, 0) > 0
    a OR x IN (SELECT y FROM r WHERE r.k = l.k)        the same, and x = y is one more equality

    a OR x NOT IN (SELECT y FROM r WHERE r.k = l.k)    three counts are all 0: of the previous line,
                                                       of l ⟕_{k = l.k} γ_{k; count(*)}(σ_{y IS NULL}(r)), and
                                                       of l ⟕_{k = l.k ∧ x IS NULL} γ_{k; count(*)}(r)

NOT IN is true if r has no row for l, or if x is not NULL and r contains neither x nor a NULL. The second count is omitted if y is
never NULL, the third if x is never NULL. Its condition `x IS NULL` keeps changes of r's row count from affecting most rows.

In other positions IN is supported as a value only if neither x nor y may be NULL: Spark evaluates it to false where SQL requires
NULL, except below NOT, and its optimizer decides what is below NOT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, conjunction, operand
from dbt_idivm.algebra.inference import certain_type, equals_one, may_be_null
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Place, finding
from dbt_idivm.frontend.aggregate import Grouping
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.existence import Existence, Pair, members, rows_of
from dbt_idivm.frontend.resolve import bare
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.operators import Join, OuterJoin, Select

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

# Which rows of the subquery are counted: partners; for IN also rows whose value is NULL, and all rows if the tested value is NULL
Counted = Literal["partners", "without a value", "of no value"]
_TRUE = cast(exp.Expr, exp.true())
CORRELATED = (
    "it has HAVING, or its correlation is not made of equalities alone, between values of one known type (CAST makes it known)"
)
_MAY_BE_NULL = (
    "IN (SELECT …) compares values that may be NULL, and is not one of the AND-ed or OR-ed conditions of WHERE or CASE WHEN "
    "(exclude NULLs with IS NOT NULL on both sides)"
)
_SEVERAL_MAY_BE_NULL = "NOT IN (SELECT …) compares several values that may be NULL (exclude NULLs with IS NOT NULL on both sides)"


def has_partner(
    lowering: Lowering, test: Existence, env: Env, scope: Scope, root: Operator, *, truth: bool
) -> tuple[Operator, exp.Expr]:
    """(rows joined with counts, whether each row has a partner in the subquery).

    For NOT IN it is also true where that is NULL. With `truth`, NULL and FALSE mean the same (for NOT IN: of the whole NOT
    IN); otherwise an IN that may be NULL is refused.
    """
    root, found, nullable = _counted(lowering, test, env, scope, root, "partners")
    may_be_unknown = any(map(any, nullable))
    if not truth and may_be_unknown:
        lowering.findings.append(finding(208, env.text.place(test.node), what=_MAY_BE_NULL))
    if not test.anti or not isinstance(test.node, exp.In):
        return root, found
    if may_be_unknown and len(nullable) > 1:
        lowering.findings.append(finding(208, env.text.place(test.node), what=_SEVERAL_MAY_BE_NULL))
    for tested, value in nullable[:1]:
        if value:
            root, more, _ = _counted(lowering, test, env, scope, root, "without a value")
            found = exp.or_(found, more)
        if tested:
            root, more, _ = _counted(lowering, test, env, scope, root, "of no value")
            found = exp.or_(found, more)
    return root, found


def _counted(
    lowering: Lowering, test: Existence, env: Env, scope: Scope, root: Operator, which: Counted
) -> tuple[Operator, exp.Expr, list[tuple[bool, bool]]]:
    """(rows joined with the number of the subquery's rows, whether that is more than 0, nullability).

    The last is for IN only: for each tested value, whether it and the inner value that it must equal may be NULL.
    """
    place = env.text.place(test.node) if isinstance(test.node, exp.In) else env.text.place(test.node.this, "SELECT")
    before = len(lowering.findings)
    rows, conditions, columns = rows_of(lowering, test, env.below(scope))
    pairs = pairs_of(lowering, conditions, root, rows)
    nullable: list[tuple[bool, bool]] = []
    more: list[exp.Expr] = []
    if isinstance(test.node, exp.In):
        found = members(lowering, test, env, scope, columns, root, rows)
        nullable = [(may_be_null(one, root.nullable), may_be_null(other, rows.nullable)) for one, other in found or ()]
        if pairs is None or found is None:
            pairs = None
        elif which == "partners":
            pairs = _all_of(pairs, _matched(lowering, found, root, rows))
        elif which == "without a value":
            rows = Select(rows, _is_null(found[0][1]))
        else:
            more.append(_is_null(found[0][0]))
    if pairs is None:
        if len(lowering.findings) == before:
            lowering.findings.append(finding(208, place, what=CORRELATED))
        return root, exp.false(), []
    grouping = Grouping(lowering, exp.Select(), env, rows, Scope(), "scalar")
    keys = [grouping.key(mine) for _, mine in pairs]
    number = grouping.count()
    inner, _ = grouping.apply(())
    on = [*equalities(pairs, keys), *more]
    joined = outer_joined(lowering, root, inner, on, place) if on else Join(root, inner, _TRUE)
    known = or_nothing(column(number), {number: exp.Literal.number(0)}) if on else column(number)
    return joined, exp.GT(this=known, expression=exp.Literal.number(0)), nullable


def _is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=operand(value), expression=exp.null())


def _all_of(pairs: list[Pair], others: list[Pair] | None) -> list[Pair] | None:
    return None if others is None else [*pairs, *others]


def _matched(lowering: Lowering, found: list[Pair], outer: Operator, inner: Operator) -> list[Pair] | None:
    """The pairs of an IN; None unless each tested value certainly equals at most one value of the subquery."""
    pairs = [_equal(*pair, outer, inner, asked=lowering.is_to_be_repeated) for pair in found]
    return None if None in pairs else cast("list[Pair]", pairs)


def pairs_of(lowering: Lowering, conditions: list[exp.Expr], outer: Operator, inner: Operator) -> list[Pair] | None:
    """The pairs that the correlated conditions equate; None if one of them is not such an equality."""
    found = [pair_of(each, outer, inner, asked=lowering.is_to_be_repeated) for each in conditions]
    return None if None in found else cast("list[Pair]", found)


def pair_of(condition: exp.Expr, outer: Operator, inner: Operator, *, asked: bool) -> Pair | None:
    """(outer value, inner value) of an equality of both; None for any other condition."""
    if not isinstance(condition, exp.EQ):
        return None
    for theirs, mine in ((condition.left, condition.right), (condition.right, condition.left)):
        if {*attributes(theirs)} <= {*outer.columns} and attributes(mine) and {*attributes(mine)} <= {*inner.columns}:
            return _equal(bare(theirs), bare(mine), outer, inner, asked=asked)
    return None


def _equal(theirs: exp.Expr, mine: exp.Expr, outer: Operator, inner: Operator, *, asked: bool) -> Pair | None:
    """The pair, if an outer value certainly equals at most one inner value; else None.

    Counter-example: '1' and '01' equal one INT, so an outer row would have two groups. With `asked`, pairs of uncertain types
    are accepted as well: the model is lowered again with the types from the engine.
    """
    one, other = certain_type(theirs, outer.certain_types), certain_type(mine, inner.certain_types)
    known = one is not None and other is not None
    return (theirs, mine) if equals_one(other, one) or (asked and not known) else None


def equalities(pairs: list[Pair], keys: list[str]) -> list[exp.Expr]:
    """The pairs as conditions, in which the inner values are the group attributes `keys`."""
    return [exp.EQ(this=operand(theirs), expression=column(key)) for (theirs, _), key in zip(pairs, keys, strict=True)]


def or_nothing(value: exp.Expr, nothing: Mapping[str, exp.Expr]) -> exp.Expr:
    """The value for outer rows that may have no group. `nothing`: aggregate → its value over no rows,
    if that is not NULL, such as 0 for counts.
    """
    return value.transform(
        lambda node: (
            exp.Coalesce(this=node.copy(), expressions=[nothing[node.name].copy()])
            if isinstance(node, exp.Column) and node.name in nothing
            else node
        )
    )


def outer_joined(
    lowering: Lowering, root: Operator, inner: Operator, conditions: list[exp.Expr], place: Place | None
) -> OuterJoin:
    """The rows ⟕ the rows of a subquery, on its correlated conditions."""
    joined = OuterJoin(root, inner, conjunction(conditions) or _TRUE, lowering.names.outer_join("scalar"))
    lowering.findings += incomparable_operands(joined.condition, {**root.types, **inner.types}, place)
    return joined

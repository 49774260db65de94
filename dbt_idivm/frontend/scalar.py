"""Scalar subqueries of aggregates → a join with their one row, or ⟕ with their groups: what they are called for is then a column.

    x > (SELECT avg(y) FROM r)                              l × γ_{; avg(y)}(r)
    (SELECT count(*) FROM r WHERE r.k = l.k AND p(r))       l ⟕_{k = l.k} γ_{k; count(*)}(σ_p(r)), COALESCE(count, 0)

A query without GROUP BY that aggregates has exactly one row, and with equalities to the outer row as its only correlated
conditions it has one group at most for each outer row. Where there is none, each aggregate is NULL, and each count 0. Any other
query may have several rows, on which Spark fails: it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, conjunction, operand
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type, is_integral, is_text
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.aggregate import Grouping, is_aggregated
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.resolve import bare, queries_in
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.operators import Join, OuterJoin

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

Scalars = Mapping[int, exp.Expr]  # id of a subquery's node → its value over attributes
_TRUE = cast(exp.Expr, exp.true())


def with_scalars(lowering: Lowering, expression: exp.Expr, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scalars]:
    """The rows with the values of the scalar subqueries in an expression over them."""
    found: dict[int, exp.Expr] = {}
    for node in queries_in(expression):
        problem = _problem(node, env)
        if problem is not None:
            lowering.findings.append(problem)
            found[id(node)] = exp.null()
        else:
            root, found[id(node)] = _joined(lowering, node, env.below(scope), root)
    return root, found


def _problem(node: exp.Expr, env: Env) -> Finding | None:
    """Why this is no scalar subquery that has one row."""
    query = _select(node)
    place = env.text.place(node, "SELECT")
    if not isinstance(query, exp.Select) or not is_aggregated(query) or query.args.get("group") or query.args.get("distinct"):
        return finding(208, place, what="a scalar subquery that is not one SELECT of aggregates without GROUP BY")
    if len(query.expressions) != 1 or (query.expressions[0].is_star and not isinstance(query.expressions[0], exp.Count)):
        return finding(229, place, what="a scalar subquery of several columns")
    return None


def _select(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery) and not node.args.get("with_"):
        node = node.this
    return node


def _joined(lowering: Lowering, node: exp.Expr, env: Env, root: Operator) -> tuple[Operator, exp.Expr]:
    """The rows joined with those of a subquery, and its value."""
    query = cast(exp.Select, _select(node))
    env = env.within(query)
    place = env.text.place(node, "SELECT")
    rows, scope, conditions, (item,) = lowering.subquery(query, env)
    asked = bool(lowering.untyped_unions)
    pairs = [pair for pair in (_pair(each, root, rows, asked=asked) for each in conditions) if pair is not None]
    having = query.args.get("having") is not None
    if len(pairs) < len(conditions) or (pairs and having):
        what = "a scalar subquery that is correlated by anything but equalities of values of one type, or with HAVING"
        lowering.findings.append(finding(208, place, what=what))
        return root, exp.null()
    grouping = Grouping(lowering, query, env, rows, scope, "scalar")
    keys = [grouping.key(mine) for _, mine in pairs]
    inner, (value,) = grouping.apply((item,))
    if not pairs and not having:
        return Join(root, inner, _TRUE), value
    equal = [exp.EQ(this=operand(theirs), expression=column(key)) for (theirs, _), key in zip(pairs, keys, strict=True)]
    joined = OuterJoin(root, inner, conjunction(equal) or _TRUE, lowering.names.outer_join("scalar"))
    lowering.findings += incomparable_operands(joined.condition, {**root.types, **inner.types}, place)
    return joined, value if having else _without_rows(value, grouping)


def _pair(condition: exp.Expr, outer: Operator, inner: Operator, *, asked: bool) -> tuple[exp.Expr, exp.Expr] | None:
    """The outer value and the inner one that an equality compares; None for any other condition, and where equal values may be
    different ones, as '1' and '01' are for an INT: then an outer row would have several groups."""
    if not isinstance(condition, exp.EQ):
        return None
    for theirs, mine in ((condition.left, condition.right), (condition.right, condition.left)):
        if {*attributes(theirs)} <= {*outer.columns} and attributes(mine) and {*attributes(mine)} <= {*inner.columns}:
            kinds = infer_type(theirs, outer.types), infer_type(mine, inner.types)
            unknown = any(kind.this == exp.DataType.Type.UNKNOWN for kind in kinds)
            same = kinds[0] == kinds[1] or all(map(is_integral, kinds)) or all(map(is_text, kinds))
            # types that the engine is still to be asked for are known when this is lowered again
            return (bare(theirs), bare(mine)) if (asked if unknown else same) else None
    return None


def _without_rows(value: exp.Expr, grouping: Grouping) -> exp.Expr:
    """The value where there may be no group: a count is 0 then, and any other aggregate NULL."""
    counts = {call.name for call in grouping.calls.values() if call.function == "count"}
    return value.transform(lambda node: exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)])
                           if isinstance(node, exp.Column) and node.name in counts else node)

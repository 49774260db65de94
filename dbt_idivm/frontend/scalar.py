"""Subqueries as values → joins: with the one row of a scalar subquery of aggregates, or ⟕ with the groups of a correlated one.

    x > (SELECT avg(y) FROM r)                              l × γ_{; avg(y)}(r)
    (SELECT count(*) FROM r WHERE r.k = l.k AND p(r))       l ⟕_{k = l.k} γ_{k; count(*)}(σ_p(r)), COALESCE(count, 0)
    a OR EXISTS (SELECT … FROM r WHERE r.k = l.k)           the same, and whether that is more than 0

A query without GROUP BY that aggregates has exactly one row, and with equalities to the outer row as its only correlated
conditions it has one group at most for each outer row. Where there is none, each aggregate is NULL, and each count 0. Any other
query may have several rows, on which Spark fails: it is refused.

EXISTS and IN that are AND-ed conditions of WHERE are ⋉ and ▷ (`subquery.py`). IN is refused anywhere else: Spark evaluates it
to false where SQL says NULL, but not below NOT, and what is below NOT is decided by its optimizer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, conjunction, operand
from dbt_idivm.algebra.inference import certain_type, equals_one
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Finding, Place, finding
from dbt_idivm.frontend.aggregate import Grouping, is_aggregated
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.resolve import bare, is_limited, subqueries_in
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.frontend.window import is_windowed
from dbt_idivm.operators import Join, OuterJoin

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

Scalars = Mapping[int, exp.Expr]  # id of a subquery's node → its value over attributes
Pair = tuple[exp.Expr, exp.Expr]  # an outer value and the inner one that equals it
_TRUE = cast(exp.Expr, exp.true())
_CORRELATED = "a subquery that is correlated by anything but equalities of values of one known type (CAST them), or with HAVING"


def with_scalars(lowering: Lowering, expression: exp.Expr, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scalars]:
    """The rows with the values of the scalar subqueries in an expression over them."""
    found: dict[int, exp.Expr] = {}
    for node in subqueries_in(expression):
        root, found[id(node)] = _valued(lowering, node, env, root, scope)
    return root, found


def with_scalars_of(lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scalars]:
    """The rows with the values of the subqueries in the select list and in HAVING.

    Where one of them uses a name that FROM does not have it is refused: it may be an alias, and these are not known yet.
    """
    asked = [*node.expressions, *([node.args["having"].this] if node.args.get("having") else [])]
    if is_aggregated(node) and not node.args.get("group"):
        return root, {}  # no group could hold the value
    found: dict[int, exp.Expr] = {}
    before = len(lowering.findings)
    for expression in asked:
        root, values = with_scalars(lowering, expression, env, root, scope)
        found |= values
    if any(each.code in ("IDIVM-221", "IDIVM-222") for each in lowering.findings[before:]):
        lowering.findings[before:] = [finding(208, env.text.place(node, "SELECT"), what="over what the select list computes")]
    return root, found


def _valued(lowering: Lowering, node: exp.Expr, env: Env, root: Operator, scope: Scope) -> tuple[Operator, exp.Expr]:
    """The rows with the value of one subquery over them."""
    if isinstance(node, exp.In):
        what = "IN (SELECT …) that is not one of the AND-ed conditions of WHERE"
        lowering.findings.append(finding(208, env.text.place(node), what=what))
        return root, exp.null()
    if isinstance(node, exp.Exists):
        root, number = _counted(lowering, node.this, env.below(scope), root)
        return root, exp.GT(this=number, expression=exp.Literal.number(0))
    problem = _problem(node, env)
    if problem is None:
        return _joined(lowering, node, env.below(scope), root)
    lowering.findings.append(problem)
    return root, exp.null()


def _problem(node: exp.Expr, env: Env) -> Finding | None:
    """Why this is no scalar subquery that has one row."""
    query = _select(node)
    place = env.text.place(node, "SELECT")
    plain = isinstance(query, exp.Select) and is_aggregated(query) and not is_limited(query) and not is_generating(query)
    if not plain or query.args.get("group") or query.args.get("distinct"):
        return finding(208, place, what="a scalar subquery that is not one SELECT of aggregates without GROUP BY")
    if len(query.expressions) != 1 or (query.expressions[0].is_star and not isinstance(query.expressions[0], exp.Count)):
        return finding(229, place, what="a scalar subquery of several columns")
    return None


def is_row_by_row(node: exp.Expr) -> bool:
    """Whether this is one SELECT with one row for each row that satisfies its WHERE, made of that row alone."""
    tests = (is_aggregated, is_windowed, is_generating, is_limited)
    return isinstance(node, exp.Select) and not any(test(node) for test in tests)


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
    having = query.args.get("having") is not None
    pairs = _pairs(lowering, conditions, root, rows)
    if pairs is None or (pairs and having):
        lowering.findings.append(finding(208, place, what=_CORRELATED))
        return root, exp.null()
    grouping = Grouping(lowering, query, env, rows, scope, "scalar")
    keys = [grouping.key(mine) for _, mine in pairs]
    inner, (value,) = grouping.apply((item,))
    if not pairs and not having:
        return Join(root, inner, _TRUE), value
    joined = _outer(lowering, root, inner, pairs, keys, place)
    counts = {call.name for call in grouping.calls.values() if call.function == "count"}
    return joined, value if having else _or_zero(value, counts)


def _outer(lowering: Lowering, root: Operator, inner: Operator, pairs: list[Pair], keys: list[str],
           place: Place | None) -> OuterJoin:
    """The rows ⟕ groups, each on its keys."""
    equal = [exp.EQ(this=operand(theirs), expression=column(key)) for (theirs, _), key in zip(pairs, keys, strict=True)]
    joined = OuterJoin(root, inner, conjunction(equal) or _TRUE, lowering.names.outer_join("scalar"))
    lowering.findings += incomparable_operands(joined.condition, {**root.types, **inner.types}, place)
    return joined


def _counted(lowering: Lowering, node: exp.Expr, env: Env, root: Operator) -> tuple[Operator, exp.Expr]:
    """The rows joined with the number of rows of a subquery."""
    query, place = _select(node), env.text.place(node, "SELECT")
    conditions: list[exp.Expr] = []
    if is_row_by_row(query):
        env = env.within(query)
        rows, scope, conditions, _ = lowering.subquery(cast(exp.Select, query), env)
    else:
        found = lowering.query(query, env, "subquery")
        rows, scope = found.root, found.scope
    pairs = _pairs(lowering, conditions, root, rows)
    if pairs is None:
        lowering.findings.append(finding(208, place, what=_CORRELATED))
        return root, exp.null()
    grouping = Grouping(lowering, exp.Select(), env, rows, scope, "scalar")
    keys = [grouping.key(mine) for _, mine in pairs]
    number = grouping.count()
    inner, _ = grouping.apply(())
    joined = _outer(lowering, root, inner, pairs, keys, place) if pairs else Join(root, inner, _TRUE)
    return joined, _or_zero(column(number), {number}) if pairs else column(number)


def _pairs(lowering: Lowering, conditions: list[exp.Expr], outer: Operator, inner: Operator) -> list[Pair] | None:
    """What the correlated conditions equate; None if one of them does anything else."""
    found = [_pair(each, outer, inner, asked=bool(lowering.untyped_unions)) for each in conditions]
    return None if None in found else cast("list[Pair]", found)


def _pair(condition: exp.Expr, outer: Operator, inner: Operator, *, asked: bool) -> Pair | None:
    """What an equality of an outer value and an inner one compares; None for any other condition."""
    if not isinstance(condition, exp.EQ):
        return None
    for theirs, mine in ((condition.left, condition.right), (condition.right, condition.left)):
        if {*attributes(theirs)} <= {*outer.columns} and attributes(mine) and {*attributes(mine)} <= {*inner.columns}:
            return _equal(bare(theirs), bare(mine), outer, inner, asked=asked)
    return None


def _equal(theirs: exp.Expr, mine: exp.Expr, outer: Operator, inner: Operator, *, asked: bool) -> Pair | None:
    """The pair, if an outer value certainly equals one inner value at most: '1' and '01' are one INT, and an outer row would have
    two groups. With `asked` also where it is not certain: it is lowered again with the types that the engine is asked for."""
    one, other = certain_type(theirs, outer.certain_types), certain_type(mine, inner.certain_types)
    known = one is not None and other is not None
    return (theirs, mine) if equals_one(other, one) or (asked and not known) else None


def _or_zero(value: exp.Expr, counts: set[str]) -> exp.Expr:
    """The value where there may be no group: a count is 0 then, and any other aggregate NULL."""
    return value.transform(lambda node: exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)])
                           if isinstance(node, exp.Column) and node.name in counts else node)

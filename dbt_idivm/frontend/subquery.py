"""WHERE with EXISTS and IN over queries → σ, then ⋉ and ▷.

    WHERE a AND EXISTS (SELECT … FROM r WHERE p(r) AND q(r, l))     σ_a(l) ⋉_q σ_p(r)
    WHERE x NOT IN (SELECT y FROM r)                                l ▷_{x = y OR (x = y) IS NULL} r

A name refers to a column of the subquery's own FROM, or else to one of the outer query. Such correlated names are allowed in the
AND-ed parts of the subquery's WHERE. Anywhere else, or if they refer to a query further out, they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, conjunction
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.existence import Existence, existence_of, members, membership, rows_of
from dbt_idivm.frontend.resolve import Resolver, bare, subqueries_in
from dbt_idivm.frontend.scalar import Scalars, with_scalars
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.operators import Select, SemiAntiJoin

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering


def parts_of(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The AND-ed parts of a condition, across brackets."""
    inner = bare(condition)
    if isinstance(inner, exp.And):
        yield from parts_of(inner.left)
        yield from parts_of(inner.right)
    else:
        yield condition


def where(lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope) -> Operator:
    """σ, ⋉ and ▷ above the rows of FROM, as far as WHERE needs them. Names of enclosing queries are refused."""
    root, correlated = filtered(lowering, node, env, root, scope, correlate=False)
    assert not correlated
    return root


def filtered(
    lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope, *, correlate: bool
) -> tuple[Operator, list[exp.Expr]]:
    """(rows that satisfy WHERE, its correlated conditions over attributes). The latter are empty without `correlate`."""
    clause = node.args.get("where")
    if clause is None:
        return root, []
    parts = list(parts_of(clause.this))
    tests = [test for test in map(existence_of, parts) if test is not None]
    is_plain = not tests and not correlate and not subqueries_in(clause.this)
    whole = [clause.this] if is_plain else [part for part in parts if existence_of(part) is None]
    correlated: list[exp.Expr] = []

    def kept(root: Operator, parts: Sequence[exp.Expr], scalars: Scalars) -> Operator:
        resolver = Resolver(scope, env, lowering.findings, correlate=correlate, scalars=scalars)
        local = []
        for part in parts:
            lowering.refuse_aggregates(part, env, "WHERE")
            condition = bare(resolver.resolve(part))
            if set(attributes(condition)) <= set(root.columns):
                lowering.findings += incomparable_operands(condition, root.types, env.text.place(part))
                local.append(condition)
            else:
                correlated.append(condition)
        if not local:
            return root
        return Select(root, local[0] if len(local) == 1 else cast(exp.Expr, conjunction(local)))

    root = kept(root, [part for part in whole if not subqueries_in(part)], {})
    for part in (part for part in whole if subqueries_in(part)):
        root, scalars = with_scalars(lowering, part, env, root, scope)
        root = kept(root, [part], scalars)
    for test in tests:
        root = tested(lowering, test, env, root, scope)
    return root, correlated


def tested(lowering: Lowering, test: Existence, env: Env, root: Operator, scope: Scope) -> Operator:
    """root ⋉ or ▷ the subquery of one test."""
    inner, conditions, columns = rows_of(lowering, test, env.below(scope))
    if isinstance(test.node, exp.In):
        pairs = members(lowering, test, env, scope, columns, root, inner)
        conditions += [] if pairs is None else [membership(pairs, anti=test.anti)]
    condition = conjunction(conditions) or cast(exp.Expr, exp.true())
    place = env.text.place(test.node)
    lowering.findings += incomparable_operands(condition, {**root.types, **inner.types}, place)
    return SemiAntiJoin(root, inner, condition, test.anti)

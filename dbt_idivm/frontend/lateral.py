"""JOIN LATERAL (SELECT …) → ⋈ or ⟕ with the rows, or the groups, of the subquery.

    l, LATERAL (SELECT y FROM r WHERE p(r) AND q(r, l))            l ⋈_q σ_p(r)
    l LEFT JOIN LATERAL (SELECT y FROM r WHERE q(r, l)) ON c       l ⟕_{q ∧ c} r
    l, LATERAL (SELECT count(*) FROM r WHERE r.k = l.k)            l ⟕_{k = l.k} γ_{k; count(*)}(r), COALESCE(count, 0)

    l LEFT JOIN LATERAL (SELECT y FROM r ORDER BY … LIMIT 1)       see `limit.py`

The same correlations are allowed as for a scalar subquery (`scalar.py`), but any number of rows is. An aggregation without GROUP
BY has a row for each row of l, even if it aggregates no rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import conjunction
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.frontend.aggregate import Grouping
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.existence import without_brackets
from dbt_idivm.frontend.of_each import aggregated_for_each
from dbt_idivm.frontend.partners import CORRELATED, pairs_of
from dbt_idivm.frontend.resolve import Resolver, bare
from dbt_idivm.frontend.scalar import correlated_rows, has_one_group, with_entries, with_groups
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.operators import Join, OuterJoin, Select

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_TRUE = cast(exp.Expr, exp.true())


def is_joined(node: exp.Lateral) -> bool:
    """Whether this is a subquery in a kind of JOIN that may be LATERAL."""
    join = node.parent
    if not isinstance(join, exp.Join) or not isinstance(node.this, exp.Subquery) or join.method or join.args.get("using"):
        return False
    return join.side in ("", "LEFT") and join.kind in ("", "INNER", "CROSS", "OUTER")


def lateral_query(lowering: Lowering, left: Operator, names: Scope, node: exp.Join, env: Env) -> tuple[Operator, Scope]:
    """(rows of `left`, each with the rows that the subquery has for it; the scope of both)."""
    source, below = node.this, env.below(names)
    query, name = without_brackets(source.this), source.alias or "lateral"
    if has_one_group(query):
        return _grouped(lowering, left, names, node, env)
    firsts = lowering.first_of_each(query, below, left, name, outer=bool(node.side))
    if firsts is not None:
        return _filtered(lowering, *firsts, names, node, env)
    if query.args.get("distinct"):
        rows = lowering.query(source.this, below, name)
        return _joined(lowering, left, names, node, env, (rows.root, [], rows.scope.entries))
    found = correlated_rows(lowering, source.this, below, left, name)
    if found is None:
        raise IdivmError(lowering.findings)  # lowering cannot continue, because the subquery's columns are missing
    return _joined(lowering, left, names, node, env, found)


def _grouped(lowering: Lowering, left: Operator, names: Scope, node: exp.Join, env: Env) -> tuple[Operator, Scope]:
    """The rows of `left`, each with the single group of the subquery's rows that belong to it."""
    source, text = node.this, env.text
    query, name = cast(exp.Select, without_brackets(source.this)), source.alias or "lateral"
    below, place = env.below(names).within(query), text.place(source, "LATERAL")
    rows, scope, conditions, selected = lowering.subquery(query, below)
    pairs = pairs_of(lowering, conditions, left, rows)
    if conditions and query.args.get("having"):
        raise lowering.stopped_by(finding(208, place, what=CORRELATED))
    grouping = Grouping(lowering, query, below, rows, scope, name)
    if pairs is None:
        root, values = aggregated_for_each(lowering, grouping, conditions, selected, left, place)
    elif pairs:
        root, values = with_groups(lowering, grouping, pairs, selected, left, place)
    else:
        root, found = grouping.apply(selected)
        values = list(found)
    root, entries = with_entries(lowering, root, selected, values, name)
    if not conditions:
        return _joined(lowering, left, names, node, env, (root, [], entries))
    return _filtered(lowering, root, entries, names, node, env)


def _filtered(
    lowering: Lowering, root: Operator, entries: tuple[Entry, ...], names: Scope, node: exp.Join, env: Env
) -> tuple[Operator, Scope]:
    """(joined rows for which ON is true, their scope). `root` already contains the rows of the subquery."""
    source, text = node.this, env.text
    both = names.plus(_shown(lowering, entries, source, env))
    condition = _on(lowering, both, node, env)
    if condition == _TRUE:
        return root, both
    if node.side:
        what = "LEFT JOIN LATERAL of aggregates, or with LIMIT, ON a condition"
        lowering.findings.append(finding(208, text.place(source, "LATERAL"), what=what))
    lowering.findings += incomparable_operands(condition, root.types, text.place(node, "JOIN"))
    return Select(root, condition), both


def _joined(
    lowering: Lowering,
    left: Operator,
    names: Scope,
    node: exp.Join,
    env: Env,
    found: tuple[Operator, list[exp.Expr], tuple[Entry, ...]],
) -> tuple[Operator, Scope]:
    """left ⋈ or ⟕ the rows of a subquery, on its correlated conditions and ON; with the scope of both."""
    inner, conditions, entries = found
    both = names.plus(_shown(lowering, entries, node.this, env))
    condition = cast(exp.Expr, conjunction([*conditions, _on(lowering, both, node, env)]))
    lowering.findings += incomparable_operands(condition, {**left.types, **inner.types}, env.text.place(node, "JOIN"))
    if node.side:
        return OuterJoin(left, inner, condition, lowering.names.outer_join(node.this.alias or "lateral")), both
    return Join(left, inner, condition), both


def _shown(lowering: Lowering, entries: tuple[Entry, ...], source: exp.Expr, env: Env) -> Scope:
    """The scope of the subquery's columns, under its alias if it has one."""
    return lowering.aliased(Scope(entries), source, env) if source.args.get("alias") else Scope(entries)


def _on(lowering: Lowering, names: Scope, node: exp.Join, env: Env) -> exp.Expr:
    """The condition of the JOIN; TRUE if there is none."""
    written = node.args.get("on")
    if written is None:
        return _TRUE
    lowering.refuse_aggregates(written, env, "ON")
    return bare(Resolver(names, env, lowering.findings).resolve(written))

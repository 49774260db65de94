"""Subqueries as values → joins: with the single row of a scalar subquery, or ⟕ with the matching row for each outer row.

    x > (SELECT avg(y) FROM r)                              l × γ_{; avg(y)}(r)
    (SELECT count(*) FROM r WHERE r.k = l.k AND p(r))       l ⟕_{k = l.k} γ_{k; count(*)}(σ_p(r)), COALESCE(count, 0)
    (SELECT y FROM r WHERE r.id = l.k), r has the key id    l ⟕_{id = l.k} r
    (SELECT y FROM r WHERE p(r))                            l × γ_{; count(*) → n, max(y)}(σ_p(r)), an error if n > 1, else max(y)

An aggregation without GROUP BY has exactly one row. If its only correlated conditions are equalities with the outer row, it has
at most one group for each outer row. If there is no group, each aggregate is NULL, each count 0, and a sorted list empty. For
other correlated conditions, or HAVING, see `of_each.py`; for ORDER BY with LIMIT 1 see `limit.py`. Any other query may have
several rows, on which Spark fails, unless the values that its conditions fix determine a row, by keys and groups. If it is not
correlated, the planned query fails on them as well, and the view is rebuilt from the SELECT, which reports it.

EXISTS and IN are ⋉ and ▷ if they are AND-ed conditions of WHERE (`subquery.py`). As values they are handled in `partners.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import column, passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import is_float
from dbt_idivm.errors import Place, finding
from dbt_idivm.frontend.aggregate import Grouping, described, is_aggregated
from dbt_idivm.frontend.at_most_one import has_one_row_at_most, is_limited_to_one
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.existence import (
    Existence,
    Pair,
    is_asked_for_truth,
    is_in_having,
    is_row_by_row,
    negated,
    without_brackets,
)
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.group_by import SelectItem
from dbt_idivm.frontend.grouping_sets import has_sets
from dbt_idivm.frontend.of_each import aggregated_for_each
from dbt_idivm.frontend.partners import CORRELATED, equalities, has_partner, or_nothing, outer_joined, pair_of, pairs_of
from dbt_idivm.frontend.resolve import bare, is_existence, is_limited, subqueries_in
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.window import is_windowed
from dbt_idivm.operators import Aggregate, Join, Project
from dbt_idivm.operators.aggregate import Call

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

Scalars = Mapping[int, exp.Expr]  # id of a subquery's node → its value over attributes
T = TypeVar("T")
_TRUE = cast(exp.Expr, exp.true())
_SEVERAL = "it may return several rows, because its conditions do not fix a key of its rows"
SEVERAL_ROWS = "a scalar subquery has several rows"
_WITHOUT_ORDER = (exp.DataType.Type.UNKNOWN, exp.DataType.Type.NULL, exp.DataType.Type.VARIANT)


def with_scalars(lowering: Lowering, expression: exp.Expr, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scalars]:
    """(rows joined with the subqueries of an expression, id of a subquery's node → its value)."""
    found: dict[int, exp.Expr] = {}
    for node in subqueries_in(expression):
        root, found[id(node)] = _valued(lowering, node, env, root, scope)
    return root, found


def with_scalars_of(lowering: Lowering, node: exp.Select, env: Env, root: Operator, scope: Scope) -> tuple[Operator, Scalars]:
    """The rows with the values of the subqueries in the select list and in HAVING.

    A subquery that uses a name which FROM does not have is refused: it may be an alias, and aliases are not known yet.
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
        lowering.findings[before:] = [
            finding(208, env.text.place(node, "SELECT"), what="it reads values that the select list computes")
        ]
    return root, found


def _valued(lowering: Lowering, node: exp.Expr, env: Env, root: Operator, scope: Scope) -> tuple[Operator, exp.Expr]:
    """(rows joined with one subquery, its value over them)."""
    if is_existence(node):
        negations, outermost = negated(node)
        truth = is_asked_for_truth(outermost)
        test = Existence(node, anti=truth and negations % 2 == 1)
        if isinstance(node, exp.In) and is_in_having(node):
            lowering.findings.append(finding(208, env.text.place(node), what="IN (SELECT …) in HAVING"))
            return root, exp.null()
        return has_partner(lowering, test, env, scope, root, truth=truth)
    query = without_brackets(node)
    if has_one_group(query):
        return _joined(lowering, node, env.below(scope), root)
    return _looked_up(lowering, node, env.below(scope), root)


def has_one_group(query: exp.Expr) -> bool:
    """Whether this is a single SELECT of aggregates without GROUP BY. It has one row, so DISTINCT does not matter."""
    return is_plain_grouping(query) and not query.args.get("group")


def is_plain_grouping(query: exp.Expr) -> bool:
    """Whether this is a single SELECT whose rows are the groups of one GROUP BY, or the one group of all rows."""
    others = (is_windowed, is_generating, is_limited)
    return (
        isinstance(query, exp.Select)
        and is_aggregated(query)
        and not has_sets(query.args.get("group"))
        and not any(test(query) for test in others)
    )


def _has_values(query: exp.Expr) -> bool:
    """Whether there are subqueries in the select list or in HAVING."""
    having = query.args.get("having")
    return any(map(subqueries_in, (*query.expressions, *([having.this] if having else []))))


def _item(lowering: Lowering, selected: Sequence[T], place: Place | None) -> T | None:
    """The only item of the select list; None, with a finding, if there are several."""
    if len(selected) != 1:
        lowering.findings.append(finding(229, place, what="a scalar subquery with several columns"))
        return None
    return selected[0]


def _joined(lowering: Lowering, node: exp.Expr, env: Env, root: Operator) -> tuple[Operator, exp.Expr]:
    """(rows joined with the single group of a subquery, or with one group for each row; the value)."""
    query = cast(exp.Select, without_brackets(node))
    env = env.within(query)
    place = env.text.place(node, "SELECT")
    rows, scope, conditions, selected = lowering.subquery(query, env)
    item = _item(lowering, selected, place)
    if item is None:
        return root, exp.null()
    having = query.args.get("having") is not None
    pairs = pairs_of(lowering, conditions, root, rows)
    grouping = Grouping(lowering, query, env, rows, scope, "scalar")
    if pairs is None or (pairs and having):
        joined, (value,) = aggregated_for_each(lowering, grouping, conditions, (item,), root, place)
        return joined, value
    if pairs:
        joined, (value,) = with_groups(lowering, grouping, pairs, (item,), root, place)
        return joined, value
    inner, (value,) = grouping.apply((item,))
    return (outer_joined(lowering, root, inner, [], place) if having else Join(root, inner, _TRUE)), value


def with_groups(
    lowering: Lowering, grouping: Grouping, pairs: list[Pair], items: Sequence[SelectItem], root: Operator, place: Place | None
) -> tuple[Operator, list[exp.Expr]]:
    """(rows, each joined with the group that `pairs` select; the values of the items for this group, or for no rows)."""
    keys = [grouping.key(mine) for _, mine in pairs]
    inner, values = grouping.apply(items)
    nothing = {call.name: zero for call in grouping.calls.values() if (zero := call.of_nothing) is not None}
    joined = outer_joined(lowering, root, inner, equalities(pairs, keys), place)
    return joined, [or_nothing(value, nothing) for value in values]


def _looked_up(lowering: Lowering, node: exp.Expr, env: Env, root: Operator) -> tuple[Operator, exp.Expr]:
    """(rows ⟕ a subquery with at most one row for each, its value), which is NULL for rows without a match."""
    query, place = without_brackets(node), env.text.place(node, "SELECT")
    firsts = lowering.first_of_each(query, env, root, "scalar", outer=True) if is_limited_to_one(query) else None
    if firsts is not None:
        root, entries = firsts
        entry = _item(lowering, entries, place)
        return root, exp.null() if entry is None else column(entry.attribute)
    found = correlated_rows(lowering, node, env, root, "scalar")
    entry = None if found is None else _item(lowering, found[2], place)
    if found is None or entry is None:
        return root, exp.null()
    inner, conditions, _ = found
    pairs = [pair for pair in (pair_of(each, root, inner, asked=False) for each in conditions) if pair is not None]
    fixed = frozenset(mine.name for _, mine in pairs if isinstance(mine, exp.Column))
    by_key = not is_limited_to_one(query)
    if by_key and not has_one_row_at_most(inner, fixed) and not lowering.is_to_be_repeated:
        if not conditions and _has_greatest(inner.types.get(entry.attribute)):
            rows = Aggregate(inner, (entry.attribute,), ()) if query.args.get("distinct") else inner
            return _only_row(lowering, rows, entry.attribute, root)
        lowering.findings.append(finding(208, place, what=_SEVERAL))
        return root, exp.null()
    value = column(entry.attribute)
    if not conditions and inner.has_row:
        return Join(root, inner, _TRUE), value
    return replace(outer_joined(lowering, root, inner, conditions, place), by_key=by_key), value


def _has_greatest(kind: exp.DataType | None) -> bool:
    """Whether the greatest of one value of this type is certainly that value, with every bit."""
    return kind is not None and not (is_float(kind) or kind.is_type(*_WITHOUT_ORDER) or kind.is_type(*exp.DataType.NESTED_TYPES))


def _only_row(lowering: Lowering, inner: Operator, attribute: str, root: Operator) -> tuple[Operator, exp.Expr]:
    """(rows × the one group of a subquery, its only value, or an error if there are several rows)."""
    number, value = (lowering.names.attribute("scalar", each) for each in ("rows", "only"))
    group = Aggregate(inner, (), (Call.of(number, "count"), Call.of(value, "max", attribute)))
    error = exp.Anonymous(this="RAISE_ERROR", expressions=[exp.Literal.string(SEVERAL_ROWS)])
    is_several = exp.GT(this=column(number), expression=exp.Literal.number(1))
    return Join(root, group, _TRUE), exp.Case(ifs=[exp.If(this=is_several, true=error)], default=column(value))


def correlated_rows(
    lowering: Lowering, node: exp.Expr, env: Env, root: Operator, name: str
) -> tuple[Operator, list[exp.Expr], tuple[Entry, ...]] | None:
    """(rows of a subquery, conditions under which they belong to a row of `root`, its
    columns); None if the correlation is refused.

    A SELECT without aggregates may be correlated by any condition, the groups of one GROUP BY
    only by equalities. DISTINCT is ignored.
    """
    query, place = without_brackets(node), env.text.place(node, "SELECT")
    if not is_row_by_row(query) and (not is_plain_grouping(query) or _has_values(query)):
        known = lowering.query(node, env, name)
        return known.root, [], known.scope.entries
    query, env = cast(exp.Select, query), env.within(query)
    rows, scope, conditions, selected = lowering.subquery(query, env)
    values = [item.expression for item in selected]
    if is_plain_grouping(query):
        pairs = pairs_of(lowering, conditions, root, rows)
        if pairs is None:
            lowering.findings.append(finding(208, place, what=CORRELATED))
            return None
        grouping = Grouping(lowering, query, env, rows, scope, name)
        keys = [grouping.key(mine) for _, mine in pairs]
        rows, found = grouping.apply(selected)
        conditions, values = equalities(pairs, keys), list(found)
    rows, entries = with_entries(lowering, rows, selected, values, name)
    return rows, conditions, entries


def with_entries(
    lowering: Lowering, rows: Operator, items: Sequence[SelectItem], values: Sequence[exp.Expr], name: str
) -> tuple[Operator, tuple[Entry, ...]]:
    """(rows with the values of a select list as attributes, the columns)."""
    entries = []
    for item, value in zip(items, values, strict=True):
        rows, attribute = with_attribute(lowering, rows, value, name)
        entries.append(Entry((), item.name, attribute, named=item.named))
    return rows, tuple(entries)


def with_attribute(lowering: Lowering, rows: Operator, value: exp.Expr, name: str) -> tuple[Operator, str]:
    """(rows with the value as an attribute, the attribute). Above ⟕, an attribute is NULL
    in padded rows; an expression may not be.
    """
    if isinstance(bare(value), exp.Column):
        return rows, bare(value).name
    attribute = lowering.names.attribute(name, described(value))
    return Project(rows, (*passing(rows.columns), (attribute, value))), attribute

"""Subqueries as values → joins: with the one row of a scalar subquery, or ⟕ with the one of each outer row.

    x > (SELECT avg(y) FROM r)                              l × γ_{; avg(y)}(r)
    (SELECT count(*) FROM r WHERE r.k = l.k AND p(r))       l ⟕_{k = l.k} γ_{k; count(*)}(σ_p(r)), COALESCE(count, 0)
    (SELECT y FROM r WHERE r.id = l.k), r has the key id    l ⟕_{id = l.k} r
    a OR EXISTS (SELECT … FROM r WHERE r.k = l.k)           as for count(*), and whether that is more than 0
    a OR x IN (SELECT y FROM r), CASE WHEN x IN …           the same, and x = y is one more equality

A query without GROUP BY that aggregates has exactly one row, and with equalities to the outer row as its only correlated
conditions it has one group at most for each outer row. Where there is none, each aggregate is NULL, each count 0, and a
sorted list empty. Any other query may have several rows, on which Spark fails, unless what its conditions fix determines a row,
by keys and groups.

EXISTS and IN that are AND-ed conditions of WHERE are ⋉ and ▷ (`subquery.py`). IN is a value only where NULL and FALSE mean the
same: Spark evaluates it to false where SQL says NULL, but not below NOT, and what is below NOT is decided by its optimizer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import attributes, column, conjunction, operand, passing
from dbt_idivm.algebra.inference import certain_type, equals_one
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Place, finding
from dbt_idivm.frontend.aggregate import Grouping, SelectItem, described, is_aggregated
from dbt_idivm.frontend.at_most_one import always_has_a_row, has_one_row_at_most, is_limited_to_one
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.existence import (
    Existence,
    Pair,
    is_asked_for_truth,
    is_row_by_row,
    members,
    rows_of,
    without_brackets,
)
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.grouping_sets import has_sets
from dbt_idivm.frontend.resolve import bare, is_existence, is_limited, subqueries_in
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.types import incomparable_operands
from dbt_idivm.frontend.window import is_windowed
from dbt_idivm.operators import Join, OuterJoin, Project

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

Scalars = Mapping[int, exp.Expr]  # id of a subquery's node → its value over attributes
T = TypeVar("T")
_TRUE = cast(exp.Expr, exp.true())
_SEVERAL = "a scalar subquery that may have several rows: its conditions fix no key of its rows"
CORRELATED = "a subquery that is correlated by anything but equalities of values of one known type (CAST them), or with HAVING"


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
    if isinstance(node, exp.In) and not is_asked_for_truth(node):
        what = "IN (SELECT …) that is not one of the AND-ed or OR-ed conditions of WHERE or CASE WHEN"
        lowering.findings.append(finding(208, env.text.place(node), what=what))
        return root, exp.null()
    if is_existence(node):
        root, number = _counted(lowering, Existence(node, anti=False), env, scope, root)
        return root, exp.GT(this=number, expression=exp.Literal.number(0))
    query = without_brackets(node)
    if has_one_group(query):
        return _joined(lowering, node, env.below(scope), root)
    return _looked_up(lowering, node, env.below(scope), root)


def has_one_group(query: exp.Expr) -> bool:
    """Whether this is one SELECT of aggregates without GROUP BY. It has one row: DISTINCT does not matter."""
    return is_plain_grouping(query) and not query.args.get("group")


def is_plain_grouping(query: exp.Expr) -> bool:
    """Whether this is one SELECT whose rows are the groups of one GROUP BY, or the one group of all rows."""
    others = (is_windowed, is_generating, is_limited)
    return (isinstance(query, exp.Select) and is_aggregated(query) and not has_sets(query.args.get("group"))
            and not any(test(query) for test in others))


def _has_values(query: exp.Expr) -> bool:
    """Whether there are subqueries in the select list or in HAVING."""
    having = query.args.get("having")
    return any(map(subqueries_in, (*query.expressions, *([having.this] if having else []))))


def _item(lowering: Lowering, selected: Sequence[T], place: Place | None) -> T | None:
    """The one item of the select list."""
    if len(selected) != 1:
        lowering.findings.append(finding(229, place, what="a scalar subquery of several columns"))
        return None
    return selected[0]


def _joined(lowering: Lowering, node: exp.Expr, env: Env, root: Operator) -> tuple[Operator, exp.Expr]:
    """The rows joined with the one group of a subquery, or with one for each of them, and its value."""
    query = cast(exp.Select, without_brackets(node))
    env = env.within(query)
    place = env.text.place(node, "SELECT")
    rows, scope, conditions, selected = lowering.subquery(query, env)
    item = _item(lowering, selected, place)
    if item is None:
        return root, exp.null()
    having = query.args.get("having") is not None
    pairs = pairs_of(lowering, conditions, root, rows)
    if pairs is None or (pairs and having):
        lowering.findings.append(finding(208, place, what=CORRELATED))
        return root, exp.null()
    grouping = Grouping(lowering, query, env, rows, scope, "scalar")
    if pairs:
        joined, (value,) = with_groups(lowering, grouping, pairs, (item,), root, place)
        return joined, value
    inner, (value,) = grouping.apply((item,))
    return (_outer(lowering, root, inner, [], place) if having else Join(root, inner, _TRUE)), value


def with_groups(lowering: Lowering, grouping: Grouping, pairs: list[Pair], items: Sequence[SelectItem], root: Operator,
                place: Place | None) -> tuple[Operator, list[exp.Expr]]:
    """The rows, each with the group that its `pairs` choose, and the values of the items of that, or of no rows."""
    keys = [grouping.key(mine) for _, mine in pairs]
    inner, values = grouping.apply(items)
    nothing = {call.name: zero for call in grouping.calls.values() if (zero := call.of_nothing) is not None}
    joined = _outer(lowering, root, inner, _equalities(pairs, keys), place)
    return joined, [_or_nothing(value, nothing) for value in values]


def _looked_up(lowering: Lowering, node: exp.Expr, env: Env, root: Operator) -> tuple[Operator, exp.Expr]:
    """The rows ⟕ those of a subquery of which each has one at most, and its value, which is NULL where there is none."""
    query, place = without_brackets(node), env.text.place(node, "SELECT")
    found = correlated_rows(lowering, node, env, root, "scalar")
    entry = None if found is None else _item(lowering, found[2], place)
    if found is None or entry is None:
        return root, exp.null()
    inner, conditions, _ = found
    pairs = [pair for pair in (_pair(each, root, inner, asked=False) for each in conditions) if pair is not None]
    fixed = frozenset(mine.name for _, mine in pairs if isinstance(mine, exp.Column))
    by_key = not is_limited_to_one(query)
    if by_key and not has_one_row_at_most(inner, fixed) and not lowering.is_to_be_repeated:
        lowering.findings.append(finding(208, place, what=_SEVERAL))
        return root, exp.null()
    value = column(entry.attribute)
    if not conditions and always_has_a_row(inner):
        return Join(root, inner, _TRUE), value
    return replace(_outer(lowering, root, inner, conditions, place), by_key=by_key), value


def correlated_rows(lowering: Lowering, node: exp.Expr, env: Env, root: Operator,
                    name: str) -> tuple[Operator, list[exp.Expr], tuple[Entry, ...]] | None:
    """The rows of a subquery, the conditions under which they belong to a row of `root`, and its columns.

    A SELECT without aggregates and the groups of one GROUP BY may be correlated, these by equalities. DISTINCT is left out. None
    where the correlation is refused.
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
        conditions, values = _equalities(pairs, keys), list(found)
    rows, entries = with_entries(lowering, rows, selected, values, name)
    return rows, conditions, entries


def with_entries(lowering: Lowering, rows: Operator, items: Sequence[SelectItem], values: Sequence[exp.Expr],
                 name: str) -> tuple[Operator, tuple[Entry, ...]]:
    """The rows with the values of a select list as attributes, and what these are called."""
    entries = []
    for item, value in zip(items, values, strict=True):
        rows, attribute = with_attribute(lowering, rows, value, name)
        entries.append(Entry((), item.name, attribute, named=item.named))
    return rows, tuple(entries)


def with_attribute(lowering: Lowering, rows: Operator, value: exp.Expr, name: str) -> tuple[Operator, str]:
    """The rows with the value as an attribute, which is NULL where there is no row, and that attribute."""
    if isinstance(bare(value), exp.Column):
        return rows, bare(value).name
    attribute = lowering.names.attribute(name, described(value))
    return Project(rows, (*passing(rows.columns), (attribute, value))), attribute


def _equalities(pairs: list[Pair], keys: list[str]) -> list[exp.Expr]:
    """The pairs as conditions, where the inner values are groups."""
    return [exp.EQ(this=operand(theirs), expression=column(key)) for (theirs, _), key in zip(pairs, keys, strict=True)]


def _outer(lowering: Lowering, root: Operator, inner: Operator, conditions: list[exp.Expr], place: Place | None) -> OuterJoin:
    """The rows ⟕ those of a subquery, under its correlated conditions."""
    joined = OuterJoin(root, inner, conjunction(conditions) or _TRUE, lowering.names.outer_join("scalar"))
    lowering.findings += incomparable_operands(joined.condition, {**root.types, **inner.types}, place)
    return joined


def _counted(lowering: Lowering, test: Existence, env: Env, scope: Scope, root: Operator) -> tuple[Operator, exp.Expr]:
    """The rows joined with the number of rows of a subquery, of those that equal the tested values if it is IN."""
    place = env.text.place(test.node) if isinstance(test.node, exp.In) else env.text.place(test.node.this, "SELECT")
    before = len(lowering.findings)
    rows, conditions, columns = rows_of(lowering, test, env.below(scope))
    pairs = pairs_of(lowering, conditions, root, rows)
    if isinstance(test.node, exp.In):
        found = members(lowering, test, env, scope, columns, {**root.types, **rows.types})
        pairs = None if pairs is None or found is None else _all_of(pairs, _matched(lowering, found, root, rows))
    if pairs is None:
        if len(lowering.findings) == before:
            lowering.findings.append(finding(208, place, what=CORRELATED))
        return root, exp.null()
    grouping = Grouping(lowering, exp.Select(), env, rows, Scope(), "scalar")
    keys = [grouping.key(mine) for _, mine in pairs]
    number = grouping.count()
    inner, _ = grouping.apply(())
    joined = _outer(lowering, root, inner, _equalities(pairs, keys), place) if pairs else Join(root, inner, _TRUE)
    return joined, _or_nothing(column(number), {number: exp.Literal.number(0)}) if pairs else column(number)


def _all_of(pairs: list[Pair], others: list[Pair] | None) -> list[Pair] | None:
    return None if others is None else [*pairs, *others]


def _matched(lowering: Lowering, found: list[Pair], outer: Operator, inner: Operator) -> list[Pair] | None:
    """The pairs of an IN, if a tested value certainly equals one value of the subquery at most."""
    pairs = [_equal(*pair, outer, inner, asked=lowering.is_to_be_repeated) for pair in found]
    return None if None in pairs else cast("list[Pair]", pairs)


def pairs_of(lowering: Lowering, conditions: list[exp.Expr], outer: Operator, inner: Operator) -> list[Pair] | None:
    """What the correlated conditions equate; None if one of them does anything else."""
    found = [_pair(each, outer, inner, asked=lowering.is_to_be_repeated) for each in conditions]
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


def _or_nothing(value: exp.Expr, nothing: Mapping[str, exp.Expr]) -> exp.Expr:
    """The value where there may be no group: `nothing` has what aggregates are then that are not NULL, as counts are 0."""
    return value.transform(lambda node: exp.Coalesce(this=node.copy(), expressions=[nothing[node.name].copy()])
                           if isinstance(node, exp.Column) and node.name in nothing else node)

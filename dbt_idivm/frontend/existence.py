"""EXISTS and IN over a query: their position, the rows of their query, and the condition that makes a row a partner.

`x IN (SELECT y FROM r WHERE p)` equals EXISTS (SELECT 1 FROM r WHERE p AND x = y) wherever NULL and FALSE mean the same.
`subquery.py` uses them as tests of rows, `scalar.py` as values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import as_attribute, column, conjunction, is_collated, operand
from dbt_idivm.algebra.inference import may_be_null
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.algebra.types import infer_type, is_numeric, is_text
from dbt_idivm.errors import finding
from dbt_idivm.frontend.aggregate import is_aggregated
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.folded import may_be_folded
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.resolve import Resolver, bare, is_existence, is_limited
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.window import is_windowed

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_FOLDED = "NOT IN tests a value that may be a constant NULL, and its result then depends on ANSI mode (use NOT EXISTS)"
_COLLATED = "IN compares values with a collation (use EXISTS or NOT EXISTS with an explicit condition)"
Pair = tuple[exp.Expr, exp.Expr]  # (outer value, inner value that equals it)


@dataclass(frozen=True)
class Existence:
    """An EXISTS or IN over a query. `anti`: it is under an odd number of NOTs."""

    node: exp.Expr
    anti: bool

    @property
    def query(self) -> exp.Expr:
        """The subquery without the brackets around it."""
        return without_brackets(self.node.args["query"] if isinstance(self.node, exp.In) else self.node.this)


def without_brackets(query: exp.Expr) -> exp.Expr:
    """The query inside its brackets, unless they define CTEs."""
    while isinstance(query, exp.Subquery) and not query.args.get("with_"):
        query = query.this
    return query


def existence_of(part: exp.Expr) -> Existence | None:
    """The condition as an `Existence`; None for any other condition."""
    anti, node = False, bare(part)
    while isinstance(node, exp.Not):
        anti, node = not anti, bare(node.this)
    return Existence(node, anti) if is_existence(node) else None


def is_asked_for_truth(node: exp.Expr) -> bool:
    """Whether NULL and FALSE mean the same for `node`: only AND, OR and brackets are between it and WHERE or CASE WHEN."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        node, parent = parent, parent.parent
    if isinstance(parent, exp.If):  # a branch of CASE, or a call of if
        return parent.this is node and not (isinstance(parent.parent, exp.Case) and parent.parent.this)
    return _is_where(parent)


def is_in_having(node: exp.Expr) -> bool:
    """Whether this is a part of HAVING, where names may be aliases as well as columns.

    In `SELECT x, max(k) AS y … HAVING y IN …`, y is max(k).
    """
    return node.find_ancestor(exp.Having, exp.Select) is not node.find_ancestor(exp.Select)


def negated(node: exp.Expr) -> tuple[int, exp.Expr]:
    """(number of NOTs directly above a condition, the outermost of them or the condition itself). Brackets are ignored."""
    number, outermost, parent = 0, node, node.parent
    while isinstance(parent, exp.Paren | exp.Not):
        if isinstance(parent, exp.Not):
            number, outermost = number + 1, parent
        parent = parent.parent
    return number, outermost


def _is_where(node: exp.Expr | None) -> bool:
    """Whether this is the WHERE clause of a query, and not of a FILTER."""
    return isinstance(node, exp.Where) and not isinstance(node.parent, exp.Filter)


def is_row_by_row(node: exp.Expr) -> bool:
    """Whether this is a SELECT with one row for each row that satisfies its WHERE, computed from that row only."""
    tests = (is_aggregated, is_windowed, is_generating, is_limited)
    return isinstance(node, exp.Select) and not any(test(node) for test in tests)


def rows_of(lowering: Lowering, test: Existence, env: Env) -> tuple[Operator, list[exp.Expr], list[exp.Expr]]:
    """(rows of a subquery, its correlated conditions, its columns as expressions over the rows). DISTINCT is ignored."""
    node = test.query
    if not is_row_by_row(node):
        rows = lowering.query(node, env, "subquery")
        return rows.root, [], [column(entry.attribute) for entry in rows.scope.entries]
    root, _, conditions, selected = lowering.subquery(cast(exp.Select, node), env.within(node))
    return root, conditions, [item.expression for item in selected]


def members(
    lowering: Lowering, test: Existence, env: Env, scope: Scope, columns: list[exp.Expr], root: Operator, inner: Operator
) -> list[Pair] | None:
    """Pairs (tested value over `root`, column of the subquery `inner` that it must
    equal) of an IN; None if their numbers differ.
    """
    types = {**root.types, **inner.types}
    left = test.node.this
    lowering.refuse_aggregates(left, env, "WHERE")
    raw = left.expressions if isinstance(left, exp.Tuple) else [left]
    place = env.text.place(test.node)
    values = [bare(Resolver(scope, env, lowering.findings).resolve(each)) for each in raw]
    if len(values) != len(columns):
        what = f"IN tests {len(values)} values against a query with {len(columns)} columns"
        lowering.findings.append(finding(229, place, what=what))
        return None
    for value, item in zip(values, columns, strict=True):
        one, other = infer_type(value, types), infer_type(item, types)
        unknown = exp.DataType.Type.UNKNOWN in (one.this, other.this)
        if unknown and lowering.is_to_be_repeated and not any(map(is_collated, (value, item))):
            continue
        if any(map(is_collated, (value, item))):
            lowering.findings.append(finding(208, place, what=_COLLATED))
        elif unknown or not _is_comparable(one, other):
            what = f"IN compares {one.sql('spark').lower()} with {other.sql('spark').lower()} (CAST one of them)"
            lowering.findings.append(finding(208, place, what=what))
        elif test.anti and may_be_null(value, root.nullable) and may_be_folded(value, root):
            lowering.findings.append(finding(208, place, what=_FOLDED))
    return [(value, bare(item)) for value, item in zip(values, columns, strict=True)]


def membership(pairs: list[Pair], *, anti: bool) -> exp.Expr:
    """The condition that the tested values equal a row of the subquery. With `anti` it is also true if that is unknown."""
    # the subquery's items are columns of it
    equal = [exp.EQ(this=operand(value), expression=operand(as_attribute(item))) for value, item in pairs]
    return cast(exp.Expr, conjunction(map(or_unknown, equal) if anti else equal))


def or_unknown(test: exp.Expr) -> exp.Expr:
    """A condition that is also true if `test` is NULL, in the form in which Spark recognises a NOT IN for which it can hash."""
    return exp.or_(test, exp.Is(this=operand(test), expression=exp.null()))


def _is_comparable(one: exp.DataType, other: exp.DataType) -> bool:
    """Whether IN and = compare the two types in the same way under all of Spark's conversion rules."""
    return one == other or (is_numeric(one) and is_numeric(other)) or (is_text(one) and is_text(other))

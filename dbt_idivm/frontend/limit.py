"""ORDER BY … LIMIT → σ over ω: the rows whose row number in that order is small enough.

    SELECT a, b FROM t ORDER BY b DESC, k LIMIT 3 OFFSET 1      σ_{1 < n ≤ 4}(ω_{(); row_number() by b DESC, k → n}(t))
    l LEFT JOIN LATERAL                                         σ_{n ≤ 1}(ω_{key(l); row_number() by b, k → n}(l ⟕_q t))
      (SELECT b FROM t WHERE q(t, l) ORDER BY b, k LIMIT 1)

A scalar subquery with LIMIT 1 is lowered in the same way. A row of l without matches gives a padded row, the first of its
partition.

Where there is one row at most, LIMIT is left out. Where ORDER BY does not determine the order of rows, it is completed
(`ties.py`). What its names mean: `order_by.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, alias, column, conjunction, passing
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.aggregate import is_aggregated
from dbt_idivm.frontend.at_most_one import has_one_row_at_most, key_of
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.order_by import names_result, over_output, over_source
from dbt_idivm.frontend.partners import outer_joined
from dbt_idivm.frontend.resolve import is_aggregate, is_limited, own_nodes
from dbt_idivm.frontend.scalar import with_entries
from dbt_idivm.frontend.scope import Entry, Scope
from dbt_idivm.frontend.select import Item
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.ties import UNDER_REBUILD
from dbt_idivm.frontend.window import INSTEAD, is_windowed, windowed
from dbt_idivm.operators import Join, Project, Select

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_NUMBER = "idivm_limit"
_NO_ORDER = "only ORDER BY with a number in LIMIT has an order that can be completed"
_TRUE = cast(exp.Expr, exp.true())
_WITHOUT_KEY = "LIMIT in a subquery that is correlated with rows without a key (declare their key, and select it in subqueries)"


def without_order(tree: exp.Query) -> None:
    """Remove clauses and hints that do not affect the rows of a table, in place.

    ORDER BY matters only with LIMIT. A LIMIT that keeps at least one row does not matter in EXISTS, nor where there is one row.
    """
    for query in tree.find_all(exp.Query):
        if _is_harmless(query):
            query.set("limit", None)
        kept = ("order", "sort") if is_limited(query) else ()
        for clause in ("order", "sort", "cluster", "distribute", "hint"):
            if clause not in kept:
                query.set(clause, None)


def _is_harmless(query: exp.Query) -> bool:
    """Whether LIMIT can be removed: it is LIMIT ALL, or it keeps at least one row, under EXISTS or of one group of all rows; and
    there is no OFFSET.
    """
    limit = query.args.get("limit")
    if not isinstance(limit, exp.Limit) or query.args.get("offset"):
        return False
    if isinstance(limit.expression, exp.Var) and limit.expression.name.upper() == "ALL":
        return True
    return bool(_number(limit)) and (isinstance(query.parent, exp.Exists) or _is_one_group(query))


def _is_one_group(query: exp.Query) -> bool:
    """Whether this is a SELECT of aggregates without GROUP BY, without a generator, which would make several rows of its one."""
    if not isinstance(query, exp.Select) or query.args.get("group") or is_generating(query):
        return False
    return any(is_aggregate(each) for item in query.expressions for each in own_nodes(item))


def _number(clause: exp.Expr | None) -> int | None:
    """The literal in LIMIT or OFFSET; None if there is none."""
    value = clause.expression if clause is not None and not isinstance(clause, exp.Fetch) else None
    return int(value.name) if isinstance(value, exp.Literal) and value.is_int else None


def refused(node: exp.Expr, text: Text) -> Finding | None:
    """A LIMIT or OFFSET that has no ORDER BY or is not a literal."""
    if not isinstance(node, exp.Limit | exp.Offset | exp.Fetch):
        return None
    query = cast(exp.Expr, node.parent)
    literal = query.args.get("order") and not query.args.get("sort") and _number(node) is not None
    return None if literal else _undetermined(node, text, _NO_ORDER)


def _undetermined(clause: exp.Expr, text: Text, reason: str = UNDER_REBUILD) -> Finding:
    """The finding that it is undefined which rows the clause keeps."""
    written = f"{_word(clause)} {clause.expression.sql(DIALECT)}".strip()
    return finding(205, text.place(clause, _word(clause)), clause=written, reason=reason)


def _word(clause: exp.Expr) -> str:
    return "OFFSET" if isinstance(clause, exp.Offset) else "LIMIT"


def limited(lowering: Lowering, node: exp.Query, env: Env, name: str) -> tuple[Operator, Scope]:
    """(the rows that LIMIT and OFFSET keep of a query, their scope)."""
    limit, offset = (node.args.get(clause) for clause in ("limit", "offset"))
    clause = cast(exp.Expr, limit or offset)
    core, order = node.copy(), node.args["order"].copy()
    for each in ("limit", "offset", "order"):
        core.set(each, None)
    window = _numbering(order, _undetermined(clause, env.text))
    of_result = names_result(core, order)
    problem = None if of_result else over_source(core, order)
    if not of_result and problem is None:
        core.append("expressions", alias(window, _NUMBER))
    rows = lowering.query(core, env, name)
    root, entries = rows.root, rows.scope.entries
    if of_result:
        problem = over_output(order, rows.scope, lowering, node, env)
    if problem is not None:
        what = f"{_word(clause)} after {problem}"
        lowering.findings.append(finding(228, env.text.place(clause, _word(clause)), what=what))
        return root, rows.scope
    if of_result and not offset and _number(limit) and not root.ids and has_one_row_at_most(root, frozenset()):
        return root, rows.scope
    if of_result:
        root, (item,) = windowed(lowering, env, root, (Item(_NUMBER, window, window),), name)
        attribute = item.expression.name
    else:
        attribute, entries = entries[-1].attribute, entries[:-1]
    first, most = _number(offset) or 0, _number(limit)
    tests: list[exp.Expr] = [exp.GT(this=column(attribute), expression=exp.Literal.number(first))] if first else []
    if most is not None:
        tests.append(exp.LTE(this=column(attribute), expression=exp.Literal.number(first + most)))
    condition = conjunction(tests)
    return (root if condition is None else Select(root, condition)), Scope(entries)


def takes_first_rows(query: exp.Expr) -> bool:
    """Whether this is a SELECT without aggregation whose ORDER BY and LIMIT keep the first rows."""
    if not isinstance(query, exp.Select) or query.args.get("offset") or query.args.get("distinct") or not query.args.get("order"):
        return False
    others = (is_aggregated, is_windowed, is_generating)
    return bool(_number(query.args.get("limit"))) and not any(test(query) for test in others)


def first_of_each(
    lowering: Lowering, node: exp.Select, env: Env, root: Operator, name: str, *, outer: bool
) -> tuple[Operator, tuple[Entry, ...]]:
    """(each row of `root` with the first rows of a subquery that belong to it, the columns of the subquery).

    With `outer`, rows of `root` without matches are kept.
    """
    clause, core, order = node.args["limit"], node.copy(), node.args["order"].copy()
    for each in ("limit", "order"):
        core.set(each, None)
    raw = window = _numbering(order, _undetermined(clause, env.text))
    of_result = names_result(core, order)
    problem = None if of_result else over_source(core, order)
    if not of_result:
        core.append("expressions", alias(window, _NUMBER))
    rows, _, conditions, selected = lowering.subquery(core, env.within(core))
    if not of_result:
        window, selected = cast(exp.Window, selected[-1].expression), selected[:-1]
    rows, entries = with_entries(lowering, rows, selected, [item.expression for item in selected], name)
    if of_result:
        problem = over_output(order, Scope(entries), lowering, node, env)
    place = env.text.place(clause, _word(clause))
    partition = key_of(root) if conditions else ()
    if partition is None:
        lowering.findings.append(finding(208, place, what=_WITHOUT_KEY))
    if problem is not None:
        lowering.findings.append(finding(228, place, what=f"{_word(clause)} after {problem}"))
    if problem is not None or partition is None:
        return Join(root, rows, _TRUE), entries

    def firsts(found: Operator) -> Operator:
        window.set("partition_by", [column(each) for each in partition])
        result, (item,) = windowed(lowering, env, found, (Item(_NUMBER, window, raw),), name)
        return Select(result, exp.LTE(this=column(item.expression.name), expression=exp.Literal.number(_number(clause))))

    if not conditions:
        rows = firsts(rows)
        return (outer_joined(lowering, root, rows, [], place) if outer else Join(root, rows, _TRUE)), entries
    present = lowering.names.attribute(name, "present")
    if not outer:
        rows = Project(rows, (*passing(rows.columns), (present, exp.Literal.number(1))))
    joined: Operator = replace(outer_joined(lowering, root, rows, conditions, place), by_key=True)
    if not outer:
        joined = Select(joined, exp.Not(this=exp.Is(this=column(present), expression=exp.null())))
    return firsts(joined), entries


def _numbering(order: exp.Order, instead: Finding) -> exp.Window:
    """ROW_NUMBER over an order. `instead`: the finding to report if that does not determine a row."""
    number = exp.RowNumber()
    number.meta[INSTEAD] = instead
    return exp.Window(this=number, order=order)

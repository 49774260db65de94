"""ORDER BY … LIMIT → σ over ω: the rows whose number in that order is not too large.

    SELECT a, b FROM t ORDER BY b DESC, k LIMIT 3 OFFSET 1      σ_{1 < n ≤ 4}(ω_{(); row_number() by b DESC, k → n}(t))

ORDER BY has to determine the row: without that, which rows LIMIT keeps is not defined. It names columns of the result first, then
those of FROM, and positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, alias, column, conjunction
from dbt_idivm.algebra.operator import Operator
from dbt_idivm.errors import Finding, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.resolve import Resolver, bare, is_aggregate, is_limited, own_nodes, subqueries_in
from dbt_idivm.frontend.scope import Scope
from dbt_idivm.frontend.select import Item
from dbt_idivm.frontend.text import Text
from dbt_idivm.frontend.window import INSTEAD, windowed
from dbt_idivm.operators import Select

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_NUMBER = "idivm_limit"


def without_order(tree: exp.Query) -> None:
    """Take away the clauses and hints that do not affect the rows of a table: ORDER BY matters under LIMIT only, and LIMIT not in
    an EXISTS that it leaves a row. The tree is changed in place."""
    for query in tree.find_all(exp.Query):
        if _is_harmless(query):
            query.set("limit", None)
        kept = ("order", "sort") if is_limited(query) else ()
        for clause in ("order", "sort", "cluster", "distribute", "hint"):
            if clause not in kept:
                query.set(clause, None)


def _is_harmless(query: exp.Query) -> bool:
    """Whether its LIMIT is the only such clause, under EXISTS, and allows at least one row; or is LIMIT ALL."""
    limit = query.args.get("limit")
    if not isinstance(limit, exp.Limit) or query.args.get("offset"):
        return False
    if isinstance(limit.expression, exp.Var) and limit.expression.name.upper() == "ALL":
        return True
    return isinstance(query.parent, exp.Exists) and bool(_number(limit))


def _number(clause: exp.Expr | None) -> int | None:
    """The literal in LIMIT or OFFSET."""
    value = clause.expression if clause is not None and not isinstance(clause, exp.Fetch) else None
    return int(value.name) if isinstance(value, exp.Literal) and value.is_int else None


def refused(node: exp.Expr, text: Text) -> Finding | None:
    """A LIMIT or OFFSET without ORDER BY, or of something that is no literal."""
    if not isinstance(node, exp.Limit | exp.Offset | exp.Fetch):
        return None
    query = cast(exp.Expr, node.parent)
    literal = query.args.get("order") and not query.args.get("sort") and _number(node) is not None
    return None if literal else _undetermined(node, text)


def _undetermined(clause: exp.Expr, text: Text) -> Finding:
    """Which rows the clause keeps is not defined."""
    return finding(205, text.place(clause, _word(clause)), clause=f"{_word(clause)} {clause.expression.sql(DIALECT)}".strip())


def _word(clause: exp.Expr) -> str:
    return "OFFSET" if isinstance(clause, exp.Offset) else "LIMIT"


def limited(lowering: Lowering, node: exp.Query, env: Env, name: str) -> tuple[Operator, Scope]:
    """The rows that LIMIT and OFFSET leave of a query, and their scope."""
    limit, offset = (node.args.get(clause) for clause in ("limit", "offset"))
    clause = cast(exp.Expr, limit or offset)
    core, order = node.copy(), node.args["order"].copy()
    for each in ("limit", "offset", "order"):
        core.set(each, None)
    number = exp.RowNumber()
    number.meta[INSTEAD] = _undetermined(clause, env.text)
    window = exp.Window(this=number, order=order)
    of_result = _names_result(core, order)
    problem = None if of_result else _mixed(core, order)
    if not of_result and problem is None:
        core.append("expressions", alias(window, _NUMBER))
    rows = lowering.query(core, env, name)
    root, entries = rows.root, rows.scope.entries
    if of_result:
        problem = _over_output(order, rows.scope, lowering, env)
    if problem is not None:
        what = f"{_word(clause)} after {problem}"
        lowering.findings.append(finding(228, env.text.place(clause, _word(clause)), what=what))
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


def _names_result(core: exp.Query, order: exp.Order) -> bool:
    """Whether ORDER BY is to name columns of the result only; those of a star are known when it is lowered."""
    if not isinstance(core, exp.Select) or core.args.get("distinct"):
        return True
    if any(item.is_star and not isinstance(item, exp.Count) for item in core.expressions):
        return True
    items = _by_name(core)
    return all(_is_of_result(key.this, items) for key in order.expressions)


def _by_name(core: exp.Query) -> Mapping[str, list[exp.Expr]]:
    items: dict[str, list[exp.Expr]] = {}
    for item in core.expressions:
        items.setdefault(item.output_name.lower(), []).append(item)
    return items


def _mixed(core: exp.Query, order: exp.Order) -> str | None:
    """What ORDER BY must not be if it names columns of FROM; a column that is selected as it is has one meaning only."""
    items = _by_name(core)
    for name in (each for key in order.expressions for each in own_nodes(key) if isinstance(each, exp.Column)):
        found = items.get(name.parts[0].name.lower(), [])
        if any(not isinstance(item, exp.Column) or len(item.parts) > 1 or len(name.parts) > 1 for item in found):
            return f"ORDER BY {'.'.join(part.name for part in name.parts)}, a name of the result and perhaps of FROM"
    if any(isinstance(bare(key.this), exp.Literal | exp.Var) for key in order.expressions):
        return "ORDER BY of positions or ALL beside columns of FROM"
    return "ORDER BY of columns of FROM beside a generator" if is_generating(core) else None


def _is_of_result(key: exp.Expr, items: Mapping[str, list[exp.Expr]]) -> bool:
    """Whether this is a position, or an expression over columns of the result."""
    if isinstance(bare(key), exp.Literal):
        return True
    if any(is_aggregate(each) or isinstance(each, exp.Window | exp.Var) for each in own_nodes(key)) or subqueries_in(key):
        return False
    return all(
        len(each.parts) == 1 and len(items.get(each.name.lower(), [])) == 1
        for each in own_nodes(key)
        if isinstance(each, exp.Column)
    )


def _over_output(order: exp.Order, scope: Scope, lowering: Lowering, env: Env) -> str | None:
    """Let ORDER BY be over the attributes of the result; what it must not be there."""
    items: dict[str, list[exp.Expr]] = {}
    for entry in scope.visible:
        items.setdefault(entry.name.lower(), []).append(column(entry.attribute))
    for key in order.expressions:
        inner = bare(key.this)
        at = int(inner.name) if isinstance(inner, exp.Literal) and inner.is_int else None
        if at is not None and 1 <= at <= len(scope.visible):
            key.set("this", column(scope.visible[at - 1].attribute))
        elif at is None and not isinstance(inner, exp.Literal) and _is_of_result(key.this, items):
            key.set("this", Resolver(scope, env, lowering.findings).resolve(key.this))
        else:
            return f"ORDER BY {env.text.source(inner) or inner.sql(DIALECT)}, which is no column of the result"
    return None

"""The columns of ORDER BY with LIMIT. Names mean columns of the result first, then those of FROM.

    SELECT a, b + c AS s FROM t ORDER BY s DESC, a              over the result: s DESC, a
    SELECT a, b + c AS s FROM t ORDER BY s DESC, d, 1           over FROM: b + c DESC, d, a
    SELECT a, sum(b) AS s FROM t GROUP BY a ORDER BY ALL        over the result: a, s

A number is the position of a column of the result. ALL is all of them, unless a column has this name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from dbt_idivm.algebra.expressions import DIALECT, column
from dbt_idivm.algebra.written_time import clock_calls
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.generators import is_generating
from dbt_idivm.frontend.resolve import Resolver, bare, is_aggregate, own_nodes, subqueries_in
from dbt_idivm.frontend.scope import Scope

if TYPE_CHECKING:
    from dbt_idivm.frontend.query import Lowering

_ALL = "all"


def names_result(core: exp.Query, order: exp.Order) -> bool:
    """Whether ORDER BY names only columns of the result. Columns of a star are not known before lowering, so then the answer is
    yes. A qualified column of SELECT DISTINCT is named without its table from now on.
    """
    if not isinstance(core, exp.Select) or _is_all(order):
        return True
    if core.args.get("distinct"):
        _without_tables(core, order)
        return True
    if any(item.is_star and not isinstance(item, exp.Count) for item in core.expressions):
        return True
    items = _by_name(core)
    return all(_is_of_result(key.this, items) for key in order.expressions)


def _is_all(order: exp.Order) -> bool:
    """Whether this is ORDER BY ALL."""
    key = order.expressions[0].this
    return len(order.expressions) == 1 and isinstance(key, exp.Var) and key.name.lower() == _ALL


def _without_tables(core: exp.Select, order: exp.Order) -> None:
    """Replace `t.a` in ORDER BY by `a` where the select list has `t.a`, and no other column of that name."""
    items = _by_name(core)
    for name in [each for key in order.expressions for each in own_nodes(key) if isinstance(each, exp.Column)]:
        found = items.get(name.name.lower(), [])
        if len(name.parts) > 1 and len(found) == 1 and isinstance(found[0], exp.Column) and _parts(found[0]) == _parts(name):
            name.replace(exp.Column(this=name.this.copy()))


def _parts(name: exp.Column) -> list[str]:
    return [part.name.lower() for part in name.parts]


def _by_name(core: exp.Query) -> Mapping[str, list[exp.Expr]]:
    items: dict[str, list[exp.Expr]] = {}
    for item in core.expressions:
        items.setdefault(item.output_name.lower(), []).append(item)
    return items


def over_source(core: exp.Query, order: exp.Order) -> str | None:
    """Replace the names and positions of columns of the result by what they are computed from, in place.
    Returns why that is impossible, or None.
    """
    if is_generating(core):
        return "ORDER BY with columns of FROM next to a generator"
    items = _by_name(core)
    for key in order.expressions:
        inner = bare(key.this)
        if isinstance(inner, exp.Literal) and inner.is_int and 1 <= int(inner.name) <= len(core.expressions):
            meant = _computed(core.expressions[int(inner.name) - 1])
            if meant is None:
                return f"ORDER BY {inner.name}, which is not a value of one row or group, next to columns of FROM"
            key.set("this", meant)
        elif isinstance(inner, exp.Literal | exp.Var):
            return "ORDER BY with positions or ALL next to columns of FROM"
        else:
            for name in [each for each in own_nodes(key) if isinstance(each, exp.Column)]:
                problem = _replace(name, items.get(name.parts[0].name.lower(), []), key)
                if problem:
                    return f"ORDER BY {'.'.join(part.name for part in name.parts)}, which {problem}"
    return None


def _replace(name: exp.Column, found: list[exp.Expr], key: exp.Expr) -> str | None:
    """Replace a name in ORDER BY by the one item of the select list that it means, if it means one. Returns why not, or None."""
    if not found or (len(name.parts) == 1 and all(isinstance(item, exp.Column) and len(item.parts) == 1 for item in found)):
        return None  # a column of FROM, also if the result has the same column unchanged
    if len(name.parts) > 1 or len(found) > 1 or _is_inside_call(name, key):
        return "may name a column of the result or of FROM"
    meant = _computed(found[0])
    if meant is None:
        return "is not a value of one row or group, next to columns of FROM"
    name.replace(meant)
    return None


def _is_inside_call(name: exp.Expr, key: exp.Expr) -> bool:
    """Whether the name is in an aggregate or a window function, whose arguments are columns of FROM."""
    above = name.parent
    while above is not None and above is not key:
        if is_aggregate(above) or isinstance(above, exp.Window):
            return True
        above = above.parent
    return False


def _computed(item: exp.Expr) -> exp.Expr | None:
    """The expression of an item of the select list, in brackets; None if it may not be in an order over FROM."""
    value = item.unalias().copy()
    if subqueries_in(value) or clock_calls(value) or any(isinstance(each, exp.Window) for each in own_nodes(value)):
        return None
    return value if isinstance(value, exp.Column) else exp.Paren(this=value)


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


def over_output(order: exp.Order, scope: Scope, lowering: Lowering, node: exp.Query, env: Env) -> str | None:
    """Replace ALL and the names and positions in ORDER BY by attributes of the result, in place. `node`: the query.
    Returns why that is impossible, or None.
    """
    if _is_all(order):
        if _has_column_all(lowering, node):
            return "ORDER BY ALL, where a column is called so"
        keys = [(order.expressions[0].copy(), entry) for entry in scope.visible]
        for key, entry in keys:
            key.set("this", column(entry.attribute))
        order.set("expressions", [key for key, _ in keys])
        return None
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
            return f"ORDER BY {env.text.source(inner) or inner.sql(DIALECT)}, which is not a column of the result"
    return None


def _has_column_all(lowering: Lowering, node: exp.Query) -> bool:
    """Whether a table, or anything in the model or in a view that it reads, is called `all`. Spark would order by that column."""
    tables = (each.name for table in lowering.catalog.tables.values() for each in table.columns)
    trees = (node.root(), *(tree for _, tree in lowering.views.values()))
    words = (each.name for tree in trees for each in tree.find_all(exp.Identifier))
    shown = (name for view in lowering.catalog.views.values() for name, _ in view.columns or ())
    return any(name.lower() == _ALL for names in (tables, words, shown) for name in names)

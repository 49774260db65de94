"""Syntactic sugar: constructs that are rewritten with others before any name is resolved, so that no rule has to handle them.

sum(x) FILTER (WHERE c)      sum(CASE WHEN c THEN x END)
count(*) FILTER (WHERE c)    count(CASE WHEN c THEN 1 END)
corr(x, y) FILTER (WHERE c)  corr(CASE WHEN c THEN x END, y)
first(x) FILTER (WHERE c)    first(CASE WHEN c THEN x END) FILTER (WHERE c), and max_by likewise
count_if(c)                  count(CASE WHEN CAST(c AS BOOLEAN) THEN 1 END), which accepts a text as well
f() OVER w                   f() OVER (…) for WINDOW w AS (…)
window_time(w)               timestamp_micros(unix_micros(w.end) - 1)
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from dbt_idivm.algebra.aggregates import ANY, BY, function_of, name_of, value_of
from dbt_idivm.frontend import functions
from dbt_idivm.frontend.resolve import is_over_window, own_nodes
from dbt_idivm.frontend.time_windows import window_time


def without_sugar(tree: exp.Query) -> None:
    """Rewrite the syntactic sugar of a query, in place."""
    for query in tree.find_all(exp.Select):
        if query.args.get("windows"):
            _write_windows(query)
    for counted in list(tree.find_all(exp.CountIf)):
        condition = exp.Cast(this=counted.this, to=exp.DataType.build("boolean"))
        counted.replace(exp.Count(this=_where(condition, exp.Literal.number(1))))
    window_time(tree)
    for call in list(tree.find_all(*BY, *ANY)):
        if not is_over_window(call):
            _arrange(call)
    for filtered in list(tree.find_all(exp.Filter)):
        if not isinstance(filtered.this, BY + ANY):
            filtered.replace(_unfiltered(filtered))


def _arrange(call: exp.Expr) -> None:
    """Write the clauses of max_by, first and the like as Spark's grammar has them: first(x) FILTER (WHERE c) IGNORE NULLS.

    FILTER stays: first(x) does not ignore NULLs. Its condition also guards the arguments, which are computed below γ.
    """
    whole = call
    clauses = []
    while isinstance(whole.parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        whole = whole.parent
        clauses.append(whole)
    if not clauses:
        return
    found = call.copy()
    conditions = [each.expression.this for each in clauses if isinstance(each, exp.Filter)]
    if conditions:
        condition = exp.and_(*conditions)
        for value in filter(None, (value_of(found), found.expression if isinstance(found, BY) else None)):
            value.replace(_where(condition, value))
        found = exp.Filter(this=found, expression=exp.Where(this=condition))
    ignoring = any(isinstance(each, exp.IgnoreNulls) for each in clauses)
    whole.replace(exp.IgnoreNulls(this=found) if ignoring else found)


def _write_windows(query: exp.Select) -> None:
    """Replace each `OVER w` by the definition of w in the WINDOW clause; names are case-sensitive."""
    named = {window.name: window for window in query.args["windows"]}
    query.set("windows", None)
    for use in [each for item in query.expressions for each in own_nodes(item) if isinstance(each, exp.Window)]:
        if not use.args.get("alias"):
            continue
        meant = named[use.alias]
        meant = named[meant.alias] if meant.args.get("alias") else meant  # w AS (PARTITION BY …), v AS w
        for part in ("partition_by", "order", "spec"):
            value = meant.args.get(part)
            use.set(part, [each.copy() for each in value] if isinstance(value, list) else value and value.copy())
        use.set("alias", None)


def _unfiltered(node: exp.Filter) -> exp.Expr:
    """The aggregate over the rows for which the condition is true, without FILTER.

    Aggregates ignore rows in which their first argument, or the value that they order by, is NULL. CASE evaluates
    its value only if its condition is true, as FILTER does.
    """
    call, condition = node.this, node.expression.this
    values = [each.this for each in call.expression.expressions] if isinstance(call, exp.WithinGroup) else []
    function = function_of(call)
    assert function is not None
    if name_of(function) not in functions.OF_ORDER:
        values.append(value_of(function))
    for value in values:
        value.replace(_where(condition, exp.Literal.number(1) if isinstance(value, exp.Star) else value))
    return cast(exp.Expr, call)


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])

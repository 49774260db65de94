"""The columns of a SELECT, whether or not it can be maintained. Models that read it need to know them.

Clauses that only select rows are dropped. A refused value is replaced by another one, of the same type if that is known:

    first(x)          max(x)                 collect_list(x)    array(max(x))
    rand()            itself                 f(x)               a value of an unknown type
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt_idivm.algebra.aggregates import ANY, function_of, is_collection, value_of
from dbt_idivm.algebra.types import Type, name_of_type
from dbt_idivm.context import Catalog
from dbt_idivm.deep import deep_recursion
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.frontend.env import Env
from dbt_idivm.frontend.lower import bad_names, parsed, raise_all, views_in
from dbt_idivm.frontend.query import Lowering
from dbt_idivm.frontend.refuse import refusal_of
from dbt_idivm.frontend.size import too_long
from dbt_idivm.frontend.sugar import without_sugar
from dbt_idivm.frontend.tables import names_in, relations
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators.scan import Attribute

_CONDITIONS, _ORDER = ("where", "having", "qualify"), ("order", "limit", "offset")
_AROUND = (exp.Window, exp.WithinGroup, exp.Filter)  # nodes around a call that are read together with it
_ONE_OF_THEM = (*ANY, exp.Mode)


@deep_recursion()
def columns_of_query(sql: str, catalog: Catalog) -> tuple[Attribute, ...]:
    """The columns of the SELECT with their types, which may be "unknown".

    Raises IdivmError with the findings that prevent this: SQL that Spark does not accept,
    and refused constructs that are not values.
    """
    raise_all(filter(None, [too_long(sql)]))
    text = Text(sql, listed=frozenset(catalog.functions))
    tree = parsed(text)
    views = views_in(names_in(tree), catalog)
    for each, query in ((text, tree), *views.values()):
        _drop_clauses(query)
        raise_all(_left(query, each, catalog))
        without_sugar(query)
    lowering = Lowering(catalog, views)
    try:
        rows = lowering.query(tree, Env(text), "v")
    except ValueError as error:
        raise IdivmError(finding(901, message=str(error))) from error
    found = [*lowering.findings, *bad_names(tree, text, rows.scope)]
    raise_all(each for each in found if not each.is_refusal)
    types = rows.root.types
    return tuple(Attribute(entry.name, _name_of_type(types[entry.attribute])) for entry in rows.scope.entries)


def _name_of_type(kind: exp.DataType) -> str:
    """The name of the type; "unknown" also for NULL, which stands for a value that could not be read."""
    return "unknown" if kind.this == Type.NULL else name_of_type(kind)


def _drop_clauses(tree: exp.Query) -> None:
    """Drop the clauses that select rows, in place. A scalar subquery keeps its
    conditions: they may guarantee that it has one row.
    """
    for query in list(tree.find_all(exp.Query)):
        for clause in _ORDER if _is_value(query) else (*_CONDITIONS, *_ORDER):
            query.set(clause, None)
    for join in tree.find_all(exp.Join):
        if join.args.get("on"):
            join.set("on", exp.true())
    for sample in list(tree.find_all(exp.TableSample)):
        sample.pop()
    for nulls in list(tree.find_all(exp.IgnoreNulls, exp.RespectNulls)):
        nulls.replace(nulls.this)


def _is_value(query: exp.Expr) -> bool:
    """Whether the query is part of a select list."""
    while query.parent is not None and not isinstance(query.parent, exp.Select):
        query = query.parent
    return query.arg_key == "expressions"


def _left(tree: exp.Query, text: Text, catalog: Catalog) -> Iterator[Finding]:
    """The findings that remain after refused values are replaced. `tree` is changed in place."""
    yield from _replaced(tree, text)
    for name, table in relations(tree):
        if name not in catalog.tables and name not in catalog.views:
            yield finding(301, text.place(table), source=name)


def _replaced(node: exp.Expr, text: Text) -> Iterator[Finding]:
    """Replace refused values in place, and yield the findings that cannot be resolved so."""
    call = _call(node)
    found = refusal_of(node, text) or (None if call is node else refusal_of(call, text))
    if found is not None:
        value = _stand_in(node) if found.is_refusal else None
        if value is None:
            yield found
            return
        if value is not node:
            node.replace(value)
            node = value
    for child in list(node.iter_expressions()):
        yield from _replaced(child, text)


def _stand_in(node: exp.Expr) -> exp.Expr | None:
    """A value of the same type, which may be the node itself; None if the node is not a value."""
    if not isinstance(node, (exp.Condition, *_AROUND)) or isinstance(node.parent, exp.Table | exp.Lateral):
        return None
    if isinstance(node, exp.Func) and not isinstance(node, exp.AggFunc | exp.Anonymous):
        return node
    function = function_of(_call(node))
    if function is None or not (is_collection(function) or isinstance(function, _ONE_OF_THEM)):
        return exp.Anonymous(this="idivm_unknown")
    value = value_of(function).copy()
    one = value if isinstance(node, exp.Window) else exp.Max(this=value)
    return exp.Array(expressions=[one]) if is_collection(function) else one


def _call(node: exp.Expr) -> exp.Expr:
    """The call inside OVER, WITHIN GROUP and FILTER."""
    while isinstance(node, _AROUND):
        node = node.this
    return node

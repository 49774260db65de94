"""Check functions that the user calls deterministic: as far as possible, that they are functions of one row and of nothing else.

The body of a SQL function is read as the SELECT list of a query over its parameters: whatever is refused in a model is refused
there, and so are subqueries, whose tables nobody would watch, and calls of user functions. For all other functions Spark is asked
for the type in a join condition, which may not contain aggregates, generators and functions flagged as non-deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.core import Pair
from dbt_idivm.algebra.expressions import operand
from dbt_idivm.algebra.guards import guarded_text
from dbt_idivm.algebra.operator import Operator, operators
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.context import Catalog, PlainView, TableInfo, UserFunction
from dbt_idivm.definition.facts import DescribedFunction, SqlFunction
from dbt_idivm.definition.questions import Asks, ColumnsOf, FunctionNamed, ask
from dbt_idivm.errors import IdivmError, Refused, finding
from dbt_idivm.frontend import user_functions
from dbt_idivm.frontend.lower import lower
from dbt_idivm.frontend.text import Text
from dbt_idivm.operators import OneRow, Project, Scan
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.relation_name import name_parts, relation_name
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DELTA, Dialect
from dbt_idivm.script.render import relation_query

_ONE_ROW: Relation = OneRow()


def called_functions(
    sql: str, views: Mapping[str, PlainView], listed: Iterable[str]
) -> Asks[dict[str, DescribedFunction | None]]:
    """Name → those of the listed functions that a SELECT, or one of the views that it reads, calls."""
    wanted = set(listed)
    trees = [Text(text).parse() for text in (sql, *(view.text for view in views.values()))] if wanted else []
    names = {name for tree in trees if isinstance(tree, exp.Query) for name, _ in user_functions.calls(tree)}
    found: dict[str, DescribedFunction | None] = {}
    for name in sorted(names & wanted):
        found[name] = yield from ask(FunctionNamed(name))
    return found


def usable(functions: Mapping[str, DescribedFunction | None]) -> dict[str, UserFunction]:
    """The functions as the planner needs them; the user is believed about those that are not described (None).

    Raises IDIVM-234 for those that are not deterministic functions of one row.
    """
    found, wrong = {}, []
    for name, each in functions.items():
        if each is None:
            found[name] = UserFunction()
            continue
        problem = each.problem or (_problem(name, each.sql) if each.sql is not None else None)
        if problem:
            wrong.append(finding(234, function=name, problem=problem))
        found[name] = UserFunction(untyped=True) if each.sql is None or problem else _as_planned(each.sql)
    if wrong:
        raise IdivmError(wrong)
    return found


def _as_planned(function: SqlFunction) -> UserFunction:
    return UserFunction(tuple(each.type for each in _parameters(function) or ()), function.returns)


def _problem(name: str, function: SqlFunction) -> str | None:
    """Why a SQL function cannot be maintained; None if it can."""
    if function.is_table:
        return "it is a table function"
    if not function.body:
        return "its body is a query, and changes of the tables in that query would go unnoticed"
    if not function.is_deterministic:
        return "it was created as NOT DETERMINISTIC"
    parameters = _parameters(function)
    if parameters is None:
        return "its parameters cannot be read, or one of them has a DEFAULT"
    table = relation_name(name_parts(name)[-1])
    rows = f" FROM {DELTA.relation_sql(table)}" if parameters else ""
    try:
        lowered = lower(
            f"SELECT CAST((\n{function.body}\n) AS {function.returns}) AS v{rows}", Catalog({table: TableInfo(table, parameters)})
        )
    except IdivmError as error:
        return f"of its body: {error.findings[0].summary}"
    if any(not isinstance(each, Project | Scan | OneRow) for each in operators(lowered.root)):
        return "its body has a subquery or an aggregate"
    # a guard would be part of this plan, but not of the body that Spark calls
    values = (value for each in operators(lowered.root) for value in each.expressions)
    if any(guarded_text(node) is not None for value in values for node in value.walk()):
        return "its body casts a text to TIMESTAMP, and Spark adds the current day to a text that holds only a time"
    return None


def _parameters(function: SqlFunction) -> tuple[Attribute, ...] | None:
    """The parameters; None if they cannot be parsed or have defaults, which may be anything."""
    if not function.parameters:
        return ()
    try:
        schema: exp.Expr = parse_one(f"CREATE TABLE t ({function.parameters})", dialect=DELTA.name).this
    except SqlglotError:
        return None
    found = []
    for each in schema.expressions if isinstance(schema, exp.Schema) else [None]:
        if not isinstance(each, exp.ColumnDef) or each.kind is None or each.find(exp.DefaultColumnConstraint):
            return None
        found.append(Attribute(each.name, each.kind.sql(DELTA.name)))
    return tuple(found)


def typed(dialect: Dialect, root: Operator, functions: Mapping[str, UserFunction]) -> Asks[dict[str, UserFunction]]:
    """Add the result types of the functions, where all calls in a plan have the same type. Raises IDIVM-234 for functions that
    Spark does not consider deterministic functions of one row."""
    kinds: dict[str, set[str]] = {}
    for name, rows, call in _calls(root):
        kind = (yield from _type_of_call(dialect, name, rows, call)) if functions[name].untyped else None
        if kind is not None:
            kinds.setdefault(name, set()).add(kind)
    found = {name: replace(function, untyped=False) for name, function in functions.items()}
    return {
        name: replace(function, returns=next(iter(kinds[name]))) if len(kinds.get(name, ())) == 1 else function
        for name, function in found.items()
    }


def _type_of_call(dialect: Dialect, name: str, rows: Relation, call: exp.Expr) -> Asks[str | None]:
    """The type of the call over these rows, if Spark accepts it in a join condition; "unknown" inside a lambda; None if nobody
    can tell. Raises IDIVM-234."""
    one_row = exp.Select(expressions=[exp.alias_(exp.Literal.number(1), "one")])
    read = relation_query(rows, Binding(dialect=dialect)) if rows.columns else one_row
    whole = _closed(call)
    query = (
        exp.Select(expressions=[exp.alias_(whole.copy(), "value")])
        .from_(subquery(read, "v"))
        .join(subquery(one_row.copy(), "o"), on=exp.Is(this=operand(whole), expression=exp.null()))
    )
    try:
        columns = yield from ask(ColumnsOf(dialect.sql(query), f"a join on {name}"))
    except Refused as failure:
        problem = f"Spark does not take it for a deterministic function of one row: {failure.first_line}"
        raise IdivmError(finding(234, function=name, problem=problem)) from failure
    return None if columns is None else columns[0][1] if whole is call else "unknown"


def _calls(root: Operator) -> Iterator[tuple[str, Relation, exp.Expr]]:
    """Calls of user functions in a plan: name, input rows of the operator, and call."""
    for operator in operators(root):
        for expression in operator.expressions:
            for name, call in user_functions.calls(expression):
                yield name, reduce(_together, operator.inputs, _ONE_ROW), call


def functions_in(root: Operator) -> frozenset[str]:
    """Names of the user functions that a plan calls."""
    return frozenset(name for name, _, _ in _calls(root))


def _together(left: Relation, right: Relation) -> Relation:
    return Pair(left, right, exp.true())


def _closed(call: exp.Expr) -> exp.Expr:
    """The outermost call around it that binds the lambda variables which it reads, or the call itself."""
    lambdas = call.find_ancestor(exp.Lambda)
    while lambdas is not None and lambdas.parent is not None:
        call = lambdas.parent
        lambdas = call.find_ancestor(exp.Lambda)
    return call

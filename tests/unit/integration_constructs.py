"""Which constructs a model of integration_tests/ uses: those of the support matrix under their names there, and further ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt_idivm.algebra.aggregates import LISTS, function_of, is_collection, name_of
from dbt_idivm.algebra.decimals import has_average_of_doubles, has_exact_average
from dbt_idivm.algebra.expressions import attributes
from dbt_idivm.algebra.guards import guarded_text
from dbt_idivm.algebra.operator import Operator, operators, operators_of
from dbt_idivm.algebra.types import Type, is_float, is_small_integer
from dbt_idivm.frontend.grouping_sets import has_sets
from dbt_idivm.operators import Aggregate, OuterJoin, Project, Scan, Select, Window
from dbt_idivm.operators.aggregate import Call, TiedCall
from dbt_idivm.operators.look_up_join import LookUpJoin
from dbt_idivm.script.additive import Additive
from dbt_idivm.script.plan import Plan
from tests.unit.integration_project import Model

INCREMENTAL, VIEW, EPHEMERAL = "an incremental model as input", "a plain view as input", "an ephemeral model as input"
JSON = ("get_json_object", "from_json", "to_json", "json_tuple", "json_array_length")
MAPS = ("str_to_map", "map_from_entries", "map_from_arrays", "map_keys", "map_values", "map_filter")
ARRAYS = ("array_contains", "array_join", "array_size", "sort_array", "array_max", "element_at", "size", "split")
TEXT = (
    "regexp_replace",
    "regexp_extract",
    "substring_index",
    "split_part",
    "initcap",
    "trim",
    "translate",
    "concat_ws",
    "lpad",
    "soundex",
    "levenshtein",
    "reverse",
    "parse_url",
    "upper",
    "lower",
)
DATES = (
    "date_trunc",
    "trunc",
    "datediff",
    "months_between",
    "add_months",
    "last_day",
    "date_format",
    "timestampdiff",
    "dayofweek",
    "unix_timestamp",
    "year",
    "extract",
    "weekday",
)
STATISTICS = ("stddev", "stddev_samp", "stddev_pop", "variance", "var_pop", "median", "skewness", "kurtosis")
RANGES = (exp.LT, exp.GT, exp.LTE, exp.GTE, exp.Between)
BITWISE = ("bit_and", "bit_or", "bit_xor")


@dataclass(frozen=True)
class Used:
    """One model: its text and SELECT, and the plan over what it reads."""

    model: Model
    tree: exp.Expr
    plan: Plan

    def has(self, *kinds: type[exp.Expr]) -> bool:
        return self.tree.find(*kinds) is not None

    def calls(self, *names: str) -> bool:
        """Whether one of the functions is called by that name in the model's text."""
        return any(f"{name}(" in self.model.sql.lower() for name in names)

    @property
    def joins(self) -> Iterator[exp.Join]:
        return self.tree.find_all(exp.Join)

    def join(self, *, side: str = "", kind: str = "") -> bool:
        return any((each.side or "") == side and (each.kind or "").replace("OUTER", "") == kind for each in self.joins)

    @property
    def aggregates(self) -> Iterator[Aggregate]:
        return operators_of(self.plan.root, Aggregate)

    @property
    def windows(self) -> Iterator[Window]:
        return operators_of(self.plan.root, Window)

    @property
    def aggregate_calls(self) -> list[Call]:
        return [call for each in self.aggregates for call in each.calls]

    def aggregate(self, *functions: str) -> bool:
        return any(call.function in functions for each in self.aggregates for call in each.calls)

    def aggregated(self, function: str, of: Callable[[exp.DataType], bool]) -> bool:
        """Whether the function is applied to values of such a type."""
        return any(
            call.function == function and call.argument is not None and of(each.child.types[call.argument])
            for each in self.aggregates
            for call in each.calls
        )

    def subqueries(self, *, correlated: bool) -> Iterator[exp.Expr]:
        """Scalar subqueries of aggregates."""
        for each in self.tree.find_all(exp.Subquery):
            if isinstance(each.parent, exp.From | exp.Join | exp.In | exp.Exists | exp.CTE):
                continue
            inner = {table.alias_or_name for table in each.find_all(exp.Table)}
            outer = any(column.table and column.table not in inner for column in each.find_all(exp.Column))
            if outer is correlated:
                yield each

    def exists(self, *, negated: bool) -> bool:
        found = [each for each in self.tree.find_all(exp.Exists) if isinstance(each.this, exp.Query) and _is_conjunct(each)]
        return any(isinstance(each.parent, exp.Not) is negated for each in found)

    def member(self, *, negated: bool) -> bool:
        found = [each for each in self.tree.find_all(exp.In) if each.args.get("query")]
        return any(isinstance(each.parent, exp.Not) is negated for each in found)


def is_averaged(kind: exp.DataType) -> bool:
    """Whether averages of decimals of the type are maintained by adding."""
    return has_average_of_doubles(kind) or has_exact_average(kind)


def is_list(call: Call) -> bool:
    """Whether this lists the values of a group."""
    function = function_of(call.without_ties().value)
    return function is not None and (is_collection(function) or name_of(function) in LISTS)


def _above(kind: type[Operator], root: Operator) -> bool:
    """Whether the input of a node is one of the kind, or a π or σ over one."""
    return isinstance(root, kind) or (isinstance(root, Project | Select) and _above(kind, root.child))


def _reads_twice(used: Used) -> bool:
    """Whether one SELECT joins a relation with itself."""
    for select in used.tree.find_all(exp.Select):
        source = select.args.get("from_")
        tables = [each.this for each in (source, *(select.args.get("joins") or ())) if each is not None]
        names = [each.name for each in tables if isinstance(each, exp.Table)]
        if len(names) > len(set(names)):
            return True
    return False


def _without_key(used: Used, aggregated: bool) -> bool:
    keyless = [each for each in used.plan.base_scans if each.key is None]
    if not aggregated:
        return bool(keyless)
    return any(all(scan.key is None for scan in operators_of(each, Scan)) for each in used.aggregates) if keyless else False


def is_newest(used: Used) -> bool:
    """Whether rows with one number of ROW_NUMBER, or with the first ones, are kept."""
    names = {each.parent.alias for each in used.tree.find_all(exp.Window) if isinstance(each.this, exp.RowNumber) and each.parent}
    return any(isinstance(each.this, exp.Column) and each.this.name in names for each in used.tree.find_all(exp.EQ, exp.LTE))


def _adds_inside(used: Used) -> bool:
    """Whether an expression over calls that are maintained by adding is shown."""
    way = used.plan.way("additive")
    if not isinstance(way, Additive):
        return False
    calls = {call.name for _, call in way.state.calls}
    return any(calls & set(attributes(each)) for _, each in way.state.outputs if not isinstance(each, exp.Column))


def _casts_texts(used: Used) -> bool:
    values = (value for each in operators(used.plan.root) for value in each.expressions)
    return any(guarded_text(node) is not None for value in values for node in value.walk())


def _unnests(used: Used) -> bool:
    return used.has(exp.Explode, exp.Inline, exp.Stack)


CONSTRUCTS: Mapping[str, Callable[[Used], bool]] = {
    "WHERE, computed columns": lambda u: u.has(exp.Where) and not u.has(exp.Group),
    "texts cast to TIMESTAMP": _casts_texts,
    "inner join, any condition": lambda u: u.join() or u.join(kind="INNER"),
    "comma, cross and LATERAL join": lambda u: (
        u.join(kind="CROSS")
        or any(not each.args.get("on") and not each.args.get("using") and not each.kind and not each.side for each in u.joins)
    ),
    "self-join": _reads_twice,
    "LEFT and RIGHT OUTER JOIN": lambda u: u.join(side="LEFT") or u.join(side="RIGHT"),
    "FULL OUTER JOIN": lambda u: u.join(side="FULL"),
    "aggregate over an outer join": lambda u: any(_above(OuterJoin, each.child) for each in u.aggregates),
    "EXISTS, IN, LEFT SEMI JOIN": lambda u: (
        u.exists(negated=False) or u.member(negated=False) or u.join(side="LEFT", kind="SEMI")
    ),
    "NOT EXISTS, LEFT ANTI JOIN": lambda u: u.exists(negated=True) or u.join(side="LEFT", kind="ANTI"),
    "NOT IN": lambda u: u.member(negated=True),
    "EXISTS as a value, IN and NOT IN below OR and in CASE WHEN": lambda u: any(
        isinstance(each.this, exp.Query) and not _is_conjunct(each) for each in u.tree.find_all(exp.Exists)
    ),
    "scalar subquery of an aggregate, or of one row": lambda u: any(u.subqueries(correlated=False)),
    "correlated scalar subquery of an aggregate, or of a row by its key": lambda u: any(u.subqueries(correlated=True)),
    "UNION ALL": lambda u: any(not each.args.get("distinct") for each in u.tree.find_all(exp.Union)),
    "SELECT without FROM, VALUES": lambda u: (
        u.has(exp.Values) or any(not each.args.get("from_") for each in u.tree.find_all(exp.Select))
    ),
    "UNION": lambda u: any(each.args.get("distinct") for each in u.tree.find_all(exp.Union)),
    "INTERSECT": lambda u: u.has(exp.Intersect),
    "EXCEPT, MINUS": lambda u: u.has(exp.Except),
    "INTERSECT ALL, EXCEPT ALL": lambda u: any(
        not each.args.get("distinct") for each in u.tree.find_all(exp.Intersect, exp.Except)
    ),
    "SELECT DISTINCT": lambda u: any(each.args.get("distinct") for each in u.tree.find_all(exp.Select)),
    "GROUP BY with sum, count": lambda u: any(
        each.groups and {call.function for call in each.calls} & {"sum", "count"} for each in u.aggregates
    ),
    "avg of INT and smaller integers, of DECIMAL(p, s) with 12 to 24 digits, or fewer and s <= 4": lambda u: u.aggregated(
        "avg", lambda kind: is_small_integer(kind) or is_averaged(kind)
    ),
    "avg of BIGINT and of other decimals": lambda u: u.aggregated(
        "avg", lambda kind: kind.this in (Type.BIGINT, Type.DECIMAL) and not is_averaged(kind)
    ),
    "sum and avg of floats": lambda u: u.aggregated("sum", is_float) or u.aggregated("avg", is_float),
    "min and max of all but floats": lambda u: u.aggregate("min", "max"),
    "expressions over sums, counts and extremes": _adds_inside,
    "count(DISTINCT), min and max of floats": lambda u: any(call.distinct for each in u.aggregates for call in each.calls),
    "aggregates with FILTER": lambda u: u.has(exp.Filter),
    "count_if": lambda u: u.has(exp.CountIf),
    "bool_and, bool_or": lambda u: u.aggregate("bool_and", "bool_or"),
    "bit_and, bit_or, bit_xor": lambda u: u.aggregate(*BITWISE),
    "stddev, variance, median and their like": lambda u: u.aggregate(*STATISTICS),
    "count(DISTINCT x, y), corr, percentile and their like": lambda u: any(
        not each.function and not is_list(each) for each in u.aggregate_calls
    ),
    "sorted lists: array_sort(collect_set(x)), listagg": lambda u: any(map(is_list, u.aggregate_calls)),
    "max_by and min_by with ties, first, last, any_value, collect_list": lambda u: any(
        isinstance(each, TiedCall) for each in u.aggregate_calls
    ),
    "ROLLUP, CUBE, GROUPING SETS": lambda u: any(has_sets(each) for each in u.tree.find_all(exp.Group)),
    "HAVING": lambda u: u.has(exp.Having),
    "aggregate without GROUP BY": lambda u: any(not each.groups for each in u.aggregates),
    "CTEs and derived tables": lambda u: (
        u.has(exp.CTE) or any(isinstance(each.parent, exp.From | exp.Join) for each in u.tree.find_all(exp.Subquery))
    ),
    "aggregate over an aggregate": lambda u: any(_above(Aggregate, each.child) for each in u.aggregates),
    "ranks and totals of a partition": lambda u: any(
        each.partition
        and any(
            isinstance(call.function, exp.Rank | exp.DenseRank | exp.PercentRank | exp.Sum | exp.Count) for call in each.calls
        )
        for each in u.windows
    ),
    "the latest row of each key": is_newest,
    "running sums, lag and lead": lambda u: (
        u.has(exp.Lag, exp.Lead)
        or any(call.order and isinstance(call.function, exp.Sum) for each in u.windows for call in each.calls)
    ),
    "running sums, counts, minima and maxima alone": lambda u: any(
        each.partition
        and all(call.order and isinstance(call.function, exp.Sum | exp.Count | exp.Min | exp.Max) for call in each.calls)
        for each in u.windows
    ),
    "window function over all rows": lambda u: any(not each.partition for each in u.windows),
    "explode, posexplode, inline, stack; LATERAL VIEW": _unnests,
    "groups of elements": lambda u: _unnests(u) and bool(u.aggregates),
    "UNPIVOT": lambda u: any(each.args.get("unpivot") for each in u.tree.find_all(exp.Pivot)),
    "PIVOT": lambda u: any(not each.args.get("unpivot") for each in u.tree.find_all(exp.Pivot)),
    "ORDER BY with LIMIT": lambda u: u.has(exp.Limit),
    "window function over groups": lambda u: any(_above(Aggregate, each.child) for each in u.windows),
    "input without a key": lambda u: _without_key(u, aggregated=False),
    "aggregate of an input without a key": lambda u: _without_key(u, aggregated=True),
}

FURTHER: Mapping[str, Callable[[Used], bool]] = {
    "USING": lambda u: any(each.args.get("using") for each in u.joins),
    "named windows": lambda u: any(each.args.get("windows") for each in u.tree.find_all(exp.Select)),
    "frames of windows": lambda u: u.has(exp.WindowSpec),
    "GROUP BY ALL": lambda u: any(each.args.get("all") for each in u.tree.find_all(exp.Group)),
    "GROUP BY a position": lambda u: any(
        isinstance(item, exp.Literal) for each in u.tree.find_all(exp.Group) for item in each.expressions
    ),
    "a chain of CTEs": lambda u: len(list(u.tree.find_all(exp.CTE))) > 1,
    "range join": lambda u: any(each.args["on"].find(*RANGES) for each in u.joins if each.args.get("on") is not None),
    "pivot by CASE": lambda u: sum(isinstance(each.this, exp.Case) for each in u.tree.find_all(exp.Sum, exp.Max, exp.Min)) > 1,
    "hash as a surrogate key": lambda u: u.calls("md5"),
    "structs": lambda u: u.calls("named_struct") or any(field in u.model.sql for field in (".provider", "contact.", "scan.")),
    "arrays": lambda u: u.calls(*ARRAYS),
    "maps": lambda u: u.calls(*MAPS),
    "lambdas": lambda u: u.has(exp.Lambda),
    "JSON": lambda u: u.calls(*JSON),
    "functions of texts": lambda u: u.calls(*TEXT),
    "functions of dates": lambda u: u.calls(*DATES),
    "ten LEFT JOINs": lambda u: sum(each.side == "LEFT" for each in u.joins) >= 10,
    "look-ups over look-ups": lambda u: any(_above(LookUpJoin, each.left) for each in operators_of(u.plan.root, LookUpJoin)),
    "LEFT JOINs of several aggregates": lambda u: (
        sum(_above(Aggregate, each.right) for each in operators_of(u.plan.root, OuterJoin) if not each.full) > 1
    ),
    "partitions of several kinds": lambda u: len({each.partition for each in u.windows}) > 1,
}

OF_INPUTS = {INCREMENTAL: "incremental", VIEW: "view", EPHEMERAL: "ephemeral"}


def _is_conjunct(node: exp.Expr) -> bool:
    """Whether the condition `node` is, perhaps negated, one of the AND-ed parts of a WHERE clause."""
    joined, parent = False, node.parent
    while isinstance(parent, exp.Paren | exp.And) or (isinstance(parent, exp.Not) and not joined):
        joined = joined or isinstance(parent, exp.And)
        parent = parent.parent
    return isinstance(parent, exp.Where)

"""What is maintained today, by example: each construct is compiled, and the table shows how the planner maintains it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbt_idivm.codes import CODES
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.definition.compiling import compiled
from dbt_idivm.definition.questions import without_engine
from dbt_idivm.errors import Finding
from dbt_idivm.explain import maintained
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.plan import Plan


@dataclass(frozen=True)
class Construct:
    """A construct of SQL and a model that uses it, over the tables of `CATALOG`."""

    name: str
    sql: str


CONSTRUCTS: tuple[Construct, ...] = (
    Construct("WHERE, computed columns", "select id, price * 2 as p from orders where status = 'open'"),
    Construct("texts cast to TIMESTAMP", "select id, try_cast(status as timestamp) as at from orders"),
    Construct("inner join, any condition", "select o.id, c.name from orders o join customers c on o.cid = c.id"),
    Construct(
        "comma, cross and LATERAL join",
        "select o.id, c.name, l.price from orders o, customers c, lateral (select price from orders p where p.cid = c.id "
        "and p.price < o.price) l where o.price > c.credit",
    ),
    Construct("self-join", "select a.id, b.id as other from orders a join orders b on a.cid = b.cid"),
    Construct("LEFT and RIGHT OUTER JOIN", "select o.id, c.name from orders o left join customers c on o.cid = c.id"),
    Construct("FULL OUTER JOIN", "select id, price, name from orders full join customers using (id)"),
    Construct(
        "aggregate over an outer join",
        "select c.id, count(o.id) as n, sum(price) as s from customers c left join orders o on o.cid = c.id group by c.id",
    ),
    Construct(
        "EXISTS, IN, LEFT SEMI JOIN",
        "select id, name from customers c where exists (select 1 from orders o where o.cid = c.id and o.price > 10)",
    ),
    Construct("NOT EXISTS, LEFT ANTI JOIN", "select c.id, c.name from customers c left anti join orders o on o.cid = c.id"),
    Construct("NOT IN", "select id, name from customers where id not in (select cid from orders)"),
    Construct(
        "EXISTS as a value, IN and NOT IN below OR and in CASE WHEN",
        "select id, case when id not in (select cid from orders where cid is not null) then 'new' else name end as name "
        "from customers c where id in (select cid from orders) "
        "or exists (select 1 from orders o where o.price = c.credit)",
    ),
    Construct(
        "scalar subquery of an aggregate, or of one row",
        "select id, price from orders where price > (select avg(credit) from customers)",
    ),
    Construct(
        "correlated scalar subquery of an aggregate, or of a row by its key",
        "select id, (select name from customers c where c.id = o.cid) as customer, "
        "(select count(*) from orders p where p.cid = o.cid) as n from orders o",
    ),
    Construct("UNION ALL", "select id, price from orders union all select id, credit from customers"),
    Construct("SELECT without FROM, VALUES", "select id, name from customers union all values (-1, 'unknown')"),
    Construct("UNION", "select cid from orders union select id from customers"),
    Construct("INTERSECT", "select cid from orders intersect select id from customers"),
    Construct("EXCEPT, MINUS", "select id from customers except select cid from orders"),
    Construct("INTERSECT ALL, EXCEPT ALL", "select cid from orders except all select id from customers"),
    Construct("SELECT DISTINCT", "select distinct status from orders"),
    Construct("GROUP BY with sum, count", "select cid, sum(price) as s, count(*) as n from orders group by cid"),
    Construct(
        "avg of INT and smaller integers, of DECIMAL(p, s) with 12 to 24 digits, or fewer and s <= 4",
        "select cid, avg(amount) as a, avg(price) as b, avg(cast(price as decimal(14, 2))) as c from orders group by cid",
    ),
    Construct(
        "avg of BIGINT and of other decimals",
        "select status, avg(cid) as a, avg(cast(price as decimal(26, 2))) as b from orders group by status",
    ),
    Construct("sum and avg of floats", "select cid, sum(weight) as s from orders group by cid"),
    Construct("min and max of all but floats", "select cid, min(price) as a, max(status) as b from orders group by cid"),
    Construct(
        "expressions over sums, counts and extremes",
        "select cid, sum(price) / nullif(count(amount), 0) as a, round(max(price), 1) as b from orders group by cid",
    ),
    Construct(
        "count(DISTINCT), min and max of floats",
        "select cid, count(distinct status) as a, max(weight) as b from orders group by cid",
    ),
    Construct(
        "aggregates with FILTER",
        "select cid, count(*) as n, sum(price) filter (where status = 'open') as s from orders group by cid",
    ),
    Construct("count_if", "select cid, count_if(price > 10) as n from orders group by cid"),
    Construct("bool_and, bool_or", "select cid, bool_and(price > 10) as a, bool_or(amount > 1) as b from orders group by cid"),
    Construct(
        "bit_and, bit_or, bit_xor",
        "select cid, bit_and(amount) as a, bit_or(amount) as b, bit_xor(amount) as c from orders group by cid",
    ),
    Construct(
        "stddev, variance, median and their like", "select cid, stddev(price) as a, median(amount) as b from orders group by cid"
    ),
    Construct(
        "count(DISTINCT x, y), corr, percentile and their like",
        "select cid, count(distinct status, amount) as n, corr(price, amount) as c, max_by(status, id) as m, "
        "percentile_cont(0.5) within group (order by price) as p from orders group by cid",
    ),
    Construct(
        "sorted lists: array_sort(collect_set(x)), listagg",
        "select cid, array_sort(collect_set(amount)) as a, "
        "listagg(status, ', ') within group (order by status) as l from orders group by cid",
    ),
    Construct(
        "max_by and min_by with ties, first, last, any_value, collect_list",
        "select cid, max_by(status, amount) as m, any_value(price) as a, collect_list(status) as l from orders group by cid",
    ),
    Construct(
        "ROLLUP, CUBE, GROUPING SETS",
        "select cid, status, sum(price) as s, grouping_id() as g from orders group by rollup (cid, status)",
    ),
    Construct("HAVING", "select cid, count(*) as n from orders group by cid having count(*) > 1"),
    Construct("aggregate without GROUP BY", "select count(*) as n, sum(price) as s from orders"),
    Construct(
        "CTEs and derived tables", "with t as (select cid from orders) select c.id from t join customers c on c.id = t.cid"
    ),
    Construct(
        "aggregate over an aggregate",
        "select n, count(*) as m from (select cid, count(*) as n from orders group by cid) t group by n",
    ),
    Construct(
        "ranks and totals of a partition",
        "select id, rank() over (partition by cid order by price) as r, count(*) over (partition by cid) as n from orders",
    ),
    Construct(
        "the latest row of each key",
        "select id, cid from (select id, cid, row_number() over (partition by cid order by price desc, id) as n "
        "from orders) where n = 1",
    ),
    Construct(
        "running sums, lag and lead",
        "select id, sum(price) over w as s, lag(price) over w as l from orders window w as (partition by cid order by id)",
    ),
    Construct(
        "running sums, counts, minima and maxima alone",
        "select id, sum(price) over w as s, count(*) over w as n from orders window w as (partition by cid order by price)",
    ),
    Construct("window function over all rows", "select id, price * 100 / sum(price) over () as share from orders"),
    Construct(
        "explode, posexplode, inline, stack; LATERAL VIEW",
        "select id, t.word from orders lateral view explode(split(status, ' ')) t as word",
    ),
    Construct(
        "groups of elements",
        "select t.word, count(*) as n from orders lateral view explode(split(status, ' ')) t as word group by t.word",
    ),
    Construct(
        "UNPIVOT",
        "select id, name, value from (select id, price, amount from orders) unpivot (value for name in (price, amount))",
    ),
    Construct("PIVOT", "select * from (select cid, status, price from orders) pivot (sum(price) for status in ('open', 'paid'))"),
    Construct("ORDER BY with LIMIT", "select id, price from orders order by price desc, id limit 10"),
    Construct("window function over groups", "select cid, rank() over (order by sum(price) desc) as r from orders group by cid"),
    Construct("input without a key", "select page, at from clicks where page <> 'home'"),
    Construct("aggregate of an input without a key", "select page, count(*) as n from clicks group by page"),
)


def _table(name: str, columns: str, key: tuple[str, ...] | None) -> TableInfo:
    pairs = (column.split() for column in columns.split(", "))
    return TableInfo(name, tuple(Attribute(column, kind) for column, kind in pairs), key, "example")


CATALOG = Catalog(
    {
        table.name: table
        for table in (
            _table("orders", "id bigint, cid bigint, status string, price decimal(10,2), amount int, weight double", ("id",)),
            _table("customers", "id bigint, name string, credit decimal(10,2)", ("id",)),
            _table("clicks", "page string, at timestamp", None),
        )
    }
)


def plan_of(construct: Construct) -> Plan:
    return without_engine(compiled(construct.sql, CATALOG)).plan


def _hidden(plan: Plan) -> str:
    return ", ".join(column.name for column in plan.columns if column.hidden) or "none"


def refused_rows() -> Iterator[str]:
    """The rows of the table of what is rebuilt. `not yet`: a rule is missing; `never`: the semantics of SQL forbid it."""
    for entry in CODES:
        if entry.code.startswith("IDIVM-2") and entry.kind in ("not yet", "unsupported"):
            word = "not yet" if entry.kind == "not yet" else "never"
            shown = Finding(entry, {})
            what, why = as_markdown(entry.roadmap or shown.title), as_markdown(shown.why)
            yield f"| {what} | {word} | {why} | [{entry.code}](errors/{entry.code}.md) |"


def as_markdown(text: str) -> str:
    """The text of a message, for a page: `<what>` outside of code is no tag of HTML."""
    return "`".join(part.replace("<", "&lt;") if turn % 2 == 0 else part for turn, part in enumerate(text.split("`")))


def support_table() -> str:
    """The table: what is maintained, how, and what is stored beside the user's columns."""
    plans = ((construct.name, plan_of(construct)) for construct in CONSTRUCTS)
    rows = (f"| {name} | {maintained(plan)} | {_hidden(plan)} |" for name, plan in plans)
    return "\n".join(("| construct | maintained | hidden columns of the example |", "|---|---|---|", *rows, ""))


def _link(path: str) -> str:
    return f"[`{path}`](../{path})"


def support_page() -> str:
    """The text of `docs/support.md`."""
    return "\n".join(
        (
            "# What is maintained today",
            "",
            "`make docs` makes this page from the code. It compiles an example for each row, and the row shows how the example",
            "is maintained. Two tests cover each row:",
            "",
            f"- {_link('tests/property/test_support_matrix.py')} has a test with the row's name. It maintains the example",
            "  through inserts, updates and deletes in several ways, and compares the result with what Spark makes of its text.",
            f"- {_link('tests/unit/test_integration_project.py')} finds at least three models of the retail warehouse that use",
            "  the construct.",
            "",
            "A hidden column is stored in the table behind the view, and the user's relation does not show it. Its name is made",
            "from the aliases and expressions of the model.",
            "",
            support_table(),
            "## What is rebuilt",
            "",
            "Everything else is rebuilt by a full refresh, and the refresh reports a code. Under `on_unsupported: error` it is",
            "an error instead. *Not yet* means that a rule is missing. *Never* means that the semantics of SQL forbid it.",
            "",
            "| construct | | why | code |",
            "|---|---|---|---|",
            *refused_rows(),
            "",
        )
    )

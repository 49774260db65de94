"""Texts whose value Spark takes from the clock, and those that only look like them."""

from __future__ import annotations

import pytest
from sqlglot import exp

from dbt_idivm.algebra.guards import guarded, guarded_text, without_guards
from dbt_idivm.algebra.operator import operators
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.errors import IdivmError
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute

COLUMNS = tuple(
    Attribute(*pair)
    for pair in (
        ("id", "bigint"),
        ("s", "string"),
        ("d", "date"),
        ("ts", "timestamp"),
        ("n", "timestamp_ntz"),
        ("f", "double"),
        ("texts", "array<string>"),
        ("times", "array<timestamp>"),
        ("v", "struct<at:timestamp,name:string>"),
    )
)
CATALOG = Catalog({name: TableInfo(name, COLUMNS, ("id",), "test") for name in ("t", "u")})

MOVING = (
    # a constant that becomes a date or a timestamp
    "d > 'today'",
    "d > date 'today'",
    "cast('now' as timestamp)",
    "timestamp_ntz 'now'",
    "d in ('2020-01-01', ' TODAY ')",
    "d between 'yesterday' and '2020-01-01'",
    "n < 'tomorrow'",
    "d <=> 'today'",
    "d - 'today'",
    "ts > 'today Europe/Berlin'",
    "case when id = 1 then 'today' else d end",
    "case d when 'today' then 1 end",
    "if(id = 1, ts, 'now')",
    "coalesce(d, 'today')",
    "nvl2(s, d, 'today')",
    "greatest(d, 'today')",
    "(id, d) in ((1, 'today'))",
    "date_add('today', 1)",
    "year('today')",
    "date_diff('today', d)",
    "sequence(d, 'today')",
    "to_date('today')",
    "date('today')",
    # of which nobody knows what it is
    "cast(reverse('yadot') as date)",
    "to_date('to' || 'day')",
    "date(concat('to', 'day'))",
    # a time alone
    "timestamp '10:15'",
    "ts > '10:15:00'",
    "cast('T10:15' as timestamp)",
    # any text that becomes a TIMESTAMP, whatever way
    "s > ts",
    "ts - s",
    "transform(texts, x -> cast(x as timestamp))",
    "cast(v.at as string) > ts",
    "s + interval 1 day",
    "date_trunc('month', s)",
    "hour(s)",
    "extract(hour from s)",
    "dateadd(day, 1, s)",
    "timestampdiff(day, s, ts)",
    "datediff(day, s, d)",
    "date_format(s, 'yyyy')",
    "dateadd(day, 1, ts) = s",
    "from_utc_timestamp(s, 'UTC')",
    "months_between(s, d)",
    "from_json(s, 'at timestamp')",
    "cast(texts as array<timestamp>)",
    "cast(split(s, ',') as array<timestamp>)",
    "array_contains(times, s)",
    "exists(texts, x -> x > ts)",
    "times[0] = s",
    "element_at(times, 1) < s",
    "v.at = v.name",
    "s > to_timestamp(s, 'yyyy')",
    "s = sequence('2020-01-01', ts)[0]",
    "array('2020-01-01', ts)[0] > s",
    "s = date_trunc('month', ts)",
    "s > coalesce(ts, '2020-01-01')",
    "regexp_extract(s, 'a', 1) < ts",
    "texts || texts || array(ts)",
    "s + make_dt_interval(1)",
    "s + id * interval 1 hour",
    "s + try_divide(interval 1 hour, 2)",
    "s + (d - d)",
    "s > array(n, ts)[0]",
    "times || texts",
    "array(d) || array('today')",
    "map(ts, 1)[s]",
    "str_to_map(s)[s]",
    "try_add(s, interval 1 day)",
    "try_subtract(ts, s)",
    "s > d + interval 1 hour",
    "d + interval 1 week > s",
    "s > d - id * interval 1 hour",
    "lag(ts, 1, s) over (partition by d order by id)",
    "lead(d, 1, 'today') over (partition by ts order by id)",
    "lag(ts, 1, '10:15') over (partition by d order by id)",
    # a schema, or a type, that is computed
    "from_csv(s, schema_of_csv('2020-01-01 00:00:00'))",
    "from_json(s, 'a time' || 'stamp')",
    "from_json(s, schema_of_json('{}', map('inferTimestamp', 'true')))",
    # a constant that holds one
    """from_json('{"a": "10:15"}', 'a timestamp')""",
    "from_csv('1,10:15', 'id int, a timestamp')",
    """variant_get(parse_json('{"a": "10:15"}'), '$.a', 'timestamp')""",
    # a guard whose error would be NULL
    "try_add(cast(s as timestamp), interval 1 day)",
    "try_subtract(ts, to_timestamp(s))",
    "try_to_binary(date_format(cast(s as timestamp), 'yyyy'), 'utf-8')",
    "try_divide(interval 1 day, hour(cast(s as timestamp)))",
)
# A text that is cast is guarded: it is an error of the plan if it holds a time alone.
GUARDED = (
    "cast(s as timestamp)",
    "s::timestamp",
    "timestamp(s)",
    "to_timestamp(s)",
    "to_timestamp_ltz(s)",
    "try_cast(s as timestamp)",
    "cast(concat(s, ' 10:00') as timestamp)",
    "cast(substring(ts, 12, 5) as timestamp)",
    "ts > cast(s as timestamp)",
    "hour(cast(trim(s) as timestamp))",
    "cast(texts[0] as timestamp)",
    "cast(cast(ts as string) as timestamp)",
    "try_divide(id, 2) + hour(cast(s as timestamp))",
    "try_cast(cast(s as timestamp) as date)",
    "case when id = 1 then cast(s as timestamp) end",
    "cast(v.name as timestamp) = v.at",
)
STILL = (
    "d > '2020-01-01'",
    "ts > '2020-01-01 10:00:00'",
    "ts between '2020-01-01' and ts",
    "d = date 'epoch'",
    "n = 'epoch'",
    # texts
    "'today'",
    "s = 'today'",
    "s in ('now', 'later')",
    "s like 'now%'",
    "upper(s) = 'TODAY'",
    "concat_ws(' ', 'today', s)",
    "case when id = 1 then 'today' else 'x' end",
    "case s when 'now' then 1 end",
    "if(s = 'now', 1, 2)",
    "coalesce(s, 'now')",
    "decode(s, 'today', 1, 2)",
    "v.name = 'today'",
    "texts[0] = 'now'",
    "get(texts, 0) = s",
    "id = hash('today')",
    "regexp_extract(s, 'a', 1) = 'today'",
    # conversions that do not look at the clock
    "cast(s as date)",
    "to_date(s)",
    "year(s)",
    "s > d",
    "datediff(d, s)",
    "date_format(to_date(s), 'yyyy')",
    "from_utc_timestamp(ts, s)",
    "datediff(day, to_date(s), d)",
    "last_day(s)",
    "cast(s as timestamp_ntz)",
    "s > n",
    "to_timestamp(s, 'HH:mm')",
    "unix_timestamp(s)",
    "from_json(s, 'a int, b date, c timestamp_ntz')",
    "cast(concat('2020', '-01-01') as date)",
    "coalesce(ts, '2020-01-01')",
    # of times, to texts
    "concat(s, ts)",
    "s || ts",
    "to_json(struct(ts, s))",
    "named_struct('a', ts, 'b', s)",
    "date_format(ts, 'yyyy')",
    "string(ts)",
    # of times
    "date_trunc('month', ts)",
    "ts > date_trunc('month', ts)",
    "d >= date_add(d, -3)",
    "ts + interval 1 day",
    "ts - ts",
    "hour(ts)",
    "cast(id as timestamp)",
    "cast(d as timestamp)",
    "cast(null as timestamp)",
    "ts = timestamp_seconds(id)",
    "array(ts, ts)",
    "try_add(ts, interval 1 day)",
    "try_add(d, 1)",
    "lag(ts, 1, ts) over (partition by d order by id)",
    "lag(s, 1, 'now') over (partition by d order by id)",
    "texts || array('today')",
    "concat(concat(texts, array(s)), array(s))",
    "map(s, 1)[s]",
    "s > d + interval 1 day",
    "from_json(s, schema_of_json('{\"a\": 1}'))",
    """from_json('{"a": "10:15"}', 'a string')""",
    "months_between(d, ts)",
    "greatest(d, date '2020-01-01')",
    "v = v",
    "times = times",
    "ts is null",
    "trunc(d, 'MM')",
    # neither
    "id > 1",
    "f + 1",
    "filter(texts, x -> length(x) > id)",
    "transform(texts, x -> upper(x))",
)


def codes(sql: str) -> set[str]:
    try:
        lower(sql, CATALOG)
    except IdivmError as error:
        assert error.is_refusal
        return set(error.codes)
    return set()


@pytest.mark.parametrize("expression", MOVING)
def test_moving(expression: str) -> None:
    assert codes(f"select id, {expression} as x from t") == {"IDIVM-230"}


@pytest.mark.parametrize("expression", STILL)
def test_still(expression: str) -> None:
    assert codes(f"select id, {expression} as x from t") == set()


def guards(sql: str) -> int:
    """How many texts are guarded in the tree."""
    root = lower(sql, CATALOG).root
    return sum(
        guarded_text(node) is not None
        for each in operators(root)
        for expression in each.expressions
        for node in expression.find_all(exp.Case)
    )


@pytest.mark.parametrize("expression", GUARDED)
def test_guarded(expression: str) -> None:
    assert guards(f"select id, {expression} as x from t") == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select id from t where cast(s as timestamp) > ts",
        "select t.id from t join u on cast(t.s as timestamp) = u.ts",
        "select t.id from t left join u on t.id = u.id and cast(u.s as timestamp) = t.ts",
        "select id from t where exists (select 1 from u where to_timestamp(u.s) = t.ts)",
        "select max(cast(s as timestamp)) as m from t",
        "select count(*) as n from t group by to_timestamp(s)",
        "with w as (select id, cast(s as timestamp) as x from t) select id from w where x > '2020-01-01'",
    ],
)
def test_guarded_anywhere(sql: str) -> None:
    assert guards(sql) == 1


@pytest.mark.parametrize("expression", [*STILL, "cast('2020-01-01' as timestamp)", "cast(ts as timestamp)"])
def test_nothing_else_is_guarded(expression: str) -> None:
    assert guards(f"select id, {expression} as x from t") == 0


def test_without_guards_a_query_is_as_before() -> None:
    text = exp.column("s", "t")
    inner = exp.Cast(this=guarded(text), to=exp.DataType.build("timestamp"))
    query = exp.select(exp.alias_(inner, "x")).from_("t")
    assert without_guards(query).sql("spark") == "SELECT CAST(t.s AS TIMESTAMP) AS x FROM t"
    assert guarded_text(exp.Paren(this=guarded(text))) == text
    other = exp.Case(ifs=[exp.If(this=exp.column("c"), true=exp.func("RAISE_ERROR", exp.Literal.string("no")))], default=text)
    assert guarded_text(other) is None and without_guards(exp.select(other)) == exp.select(other), "an error of the user's"


@pytest.mark.parametrize(
    "sql",
    [
        "select id from t where d > 'today'",
        "select id, cast(named_struct('q', 'today').q as date) as x from t",
        "select id from t where d < struct('today' as q).q",
        "select t.id from t join u on t.d = u.d and t.d < 'today'",
        "select id from t where exists (select 1 from u where u.ts > t.s)",
        "select t.id from t left anti join u on t.ts = u.s",
        "select id, ts as x from t union all select id, s from u",
        "select id, d as x from t union all select id, 'today' from u",
        "select id from (select 'today' as word, id, d from t) where word < d",
        "select id, s > x as y from (select id, s, d + interval 1 hour as x from t)",
        "select id, s > y as z from (select id, s, coalesce(n, ts) as y from t)",
        "select id, s > y as z from (select id, s, array(n, ts)[0] as y from t)",
        "select id, s > y.a as z from (select id, s, if(id = 1, struct(n as a), struct(ts as a)) as y from t)",
        "select id, try_add(x, interval 1 day) as y from (select id, cast(s as timestamp) as x from t)",
        "with w as (select id, cast(s as timestamp) as x from t union all select id, ts from u) "
        "select id from w where try_add(x, interval 1 day) > '2020-01-01'",
        "select id from (select word, id, d from (select 'now' as word, * from t) union all select s, id, d from u) where word < d",
        "select id, try_cast(word as date) as d from (select id, ' Epoch' as word from t)",
        "select id, d from t union all select id, 'epoch' from u",
    ],
)
def test_anywhere_in_a_query(sql: str) -> None:
    """A constant with a name counts, too: the plan may replace the name by the constant."""
    assert codes(sql) == {"IDIVM-230"}


@pytest.mark.parametrize(
    "sql",
    [
        "select id, 'today' as x from t union all select id, 'yesterday' from u",
        "select word, count(*) as n from (select 'today' as word, id from t) group by word",
        "select t.id from t join u on t.s = u.d",
        "select id, ts as x from t union all select id, ts from u",
        "select coalesce(s, s) as x from t union all select 'a' from t union all select 'now' from u",
        "select id, date 'epoch' as x, coalesce(d, 'epoch') as y from (select id, d, 'epochs' as word from t) where d > word",
    ],
)
def test_texts_of_a_query(sql: str) -> None:
    assert codes(sql) == set()


def test_the_text_is_pointed_at() -> None:
    with pytest.raises(IdivmError) as error:
        lower("select id\nfrom t\nwhere d > 'today'", CATALOG)
    (found,) = error.value.findings
    assert found.place is not None and found.place.line == 3
    assert "d > 'today' may depend on the day" in found.title

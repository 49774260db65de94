"""Values of every type, the odd ones of each, through both transports of a net diff: inlined as literals and left in the engine.

Many values are in one table and are read in one refresh. A maintained view has the values of its query, to the bit:
values are compared by their text, so that 0.0 is not -0.0, and strings by their bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.protocol import Outcome
from tests.functional.project import Project, project_in
from tests.property.values import STRINGS

FLOATS = ["0.0", "-0.0", "NaN", "Infinity", "-Infinity", "0.1"]
STAMPS = [
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "1582-10-04 23:59:59.999999",
    "1582-10-10 00:00:00",
    "1582-10-15 00:00:00",
    "1899-12-31 23:59:59.000001",
    "1969-12-31 23:59:59.999999",
    "1970-01-01 00:00:00",
    "2024-10-27 01:30:00.5",
    "-0044-03-15 12:00:00",
    "+290000-01-01 00:00:00",
]
# type → values as texts; each column has NULL as well
VALUES: dict[str, list[str]] = {
    "boolean": ["true", "false"],
    "tinyint": ["-128", "127", "0"],
    "smallint": ["-32768", "32767"],
    "int": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808", "9223372036854775807", "9007199254740993"],
    "decimal(38,0)": ["9" * 38, "-" + "9" * 38, "0", "-0"],
    "decimal(38,38)": ["0." + "9" * 38, "-0." + "9" * 38, "0." + "0" * 37 + "1", "0"],
    "decimal(38,18)": ["9" * 20 + "." + "9" * 18, "-" + "9" * 20 + "." + "9" * 18, "1E-18"],
    "decimal(1,0)": ["9", "-9"],
    "double": [
        *FLOATS,
        "4.9E-324",
        "-4.9E-324",
        "2.2250738585072014E-308",
        "1E22",
        "1.7976931348623157E308",
        "0.30000000000000004",
        "123456789.12345678",
        "9007199254740993",
    ],
    "float": [*FLOATS, "1.4E-45", "3.4028235E38", "16777217", "1.17549435E-38"],
    "date": [
        "0001-01-01",
        "9999-12-31",
        "1582-10-04",
        "1582-10-10",
        "1582-10-15",
        "1900-01-01",
        "-0044-03-15",
        "+10000-01-01",
        "0000-02-29",
    ],
    "timestamp": STAMPS,
    "timestamp_ntz": STAMPS,
    "binary": ["", "00", "FF00FE", "27225C", "247B787D"],
    "varchar(5)": ["", "ab ", " ☃'"],
}
KINDS = tuple(VALUES)
COLUMNS = {kind: f"c{number}" for number, kind in enumerate(KINDS)}
ROWS = max(len(values) for values in VALUES.values()) + 1


@pytest.fixture
def lab(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "hostile_" + re.sub(r"\W", "_", request.node.name.removeprefix("test_"))[:40]) as project:
        project.spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")  # values as the users' Spark treats them
        yield project


def give(lab: Project, name: str, first: int, shift: int = 0) -> None:
    """A temporary view with every value of every type; `shift` moves the values from row to row."""
    texts = [(first + row, *(in_turn(kind, row + shift) for kind in KINDS)) for row in range(ROWS)]
    frame = lab.spark.createDataFrame(texts, ", ".join(["id int", *(f"{column} string" for column in COLUMNS.values())]))
    cells = [
        f"unhex({column}) as {column}" if kind == "binary" else f"cast({column} as {kind}) as {column}"
        for kind, column in COLUMNS.items()
    ]
    frame.selectExpr("id", *cells).createOrReplaceTempView(name)


def in_turn(kind: str, number: int) -> str | None:
    """The value of that number; NULL at the end of each round."""
    values = [*VALUES[kind], None]
    return values[number % len(values)]


def exactly(project: Project, relation: str) -> Counter[tuple[Any, ...]]:
    """The rows of a relation as a bag, each value in a form in which equal means identical."""
    frame = project.spark.sql(f"select * from {relation}")
    kinds = tuple((field.name, field.dataType.simpleString()) for field in frame.schema.fields)
    shown = ", ".join(identified(f"`{name}`", kind.partition("(")[0].partition("<")[0]) for name, kind in kinds)
    return Counter((kinds, *row) for row in project.spark.sql(f"select {shown} from {relation}").collect())


def identified(value: str, kind: str) -> str:
    """A text that differs wherever the value does."""
    if kind in ("string", "char", "varchar"):
        return f"hex(cast({value} as binary))"
    if kind in ("map", "array", "struct"):
        return f"to_json(named_struct('v', {value}))"
    return f"hex({value})" if kind == "binary" else f"cast({value} as string)"


def refreshed(project: Project, model: ModelRequest, mode: str = "incremental") -> Outcome:
    outcome = project.refresh(model)
    assert outcome.mode == mode, outcome.message
    there, wanted = exactly(project, f"{project.schema}.{model.identifier}"), exactly(project, f"({model.sql})")
    assert there == wanted, list((there - wanted).items())[:2] + list((wanted - there).items())[:2]
    return outcome


def staged(project: Project) -> bool:
    return any(s.sql.startswith("CACHE TABLE") for s in project.executed)


@pytest.mark.long
@pytest.mark.parametrize("transport", ["inlined", "staged"])
def test_every_type(lab: Project, transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inserts, updates from each value to the next one of its type, and deletes: keyed, without a key, and as text."""
    if transport == "staged":
        monkeypatch.setattr("dbt_idivm.refresh.changes.net_diffs.INLINE_ROWS", 0)
    columns = ", ".join(f"{name} {kind}" for kind, name in COLUMNS.items())
    lab.sql(f"create table $.t (id int, {columns}) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')")
    give(lab, "first", 0)
    give(lab, "moved", 0, 1)
    give(lab, "more", 100)
    texts = ", ".join(f"concat('<', cast({name} as string), '>') as t_{name}" for name in COLUMNS.values())
    shown = f"cast({COLUMNS['double']} as string) is distinct from '0.0'"
    exact = [name for kind, name in COLUMNS.items() if kind not in ("double", "float")]
    models = [
        lab.model("copy", "select * from $.t", {"t": ["id"]}),
        lab.model("texts", f"select id, {texts} from $.t where {shown}", {"t": ["id"]}),
        lab.model("bag", f"select {', '.join(exact)} from $.t"),
    ]
    for model in models:
        refreshed(lab, model, "create")
    for change in (
        "insert into $.t select * from first",
        "insert overwrite $.t select * from moved union all select * from more",
        "delete from $.t where id % 3 = 0",
    ):
        lab.sql(change)
        lab.new_run()
        for model in models:
            refreshed(lab, model)
            assert staged(lab) is (transport == "staged")


@pytest.mark.long
def test_floats_as_groups_keys_and_partners(lab: Project) -> None:
    """Spark makes one group of 0.0 and -0.0, and one of all NaN; a key of such a type is none."""
    for name in ("l", "r"):
        lab.table(name, "d double, f float, n int", "('0.0', '1', 1)", "('NaN', '2', 2)", "('1.5', '-0.0', 3)")
    models = [
        lab.model("groups", "select d, count(*) as n, sum(n) as s from $.l group by d"),
        lab.model("lowest", "select f, max(n) as n from $.l group by f", {"l": ["d"]}),
        lab.model(
            "partners", "select l.d, cast(l.d as string) as t, r.n from $.l l join $.r r on l.d = r.d", {"l": ["d"], "r": ["d"]}
        ),
        lab.model("keyed", "select d, cast(d as string) as t, n from $.l", {"l": ["d"]}),
        lab.model("alike", "select distinct d from $.l"),
    ]
    for model in models:
        refreshed(lab, model, "create")
    for change in (
        "insert into $.l values ('-0.0', '-0.0', 4), ('NaN', 'NaN', 5)",
        "update $.r set d = '-0.0' where d = 0",
        "update $.l set d = 0.0, n = n + 1",
        "update $.l set d = -d",
    ):
        lab.sql(change)
        lab.new_run()
        for model in models:
            outcome = lab.refresh_in_run(model)
            assert outcome.mode == "incremental" or "nothing changed" in outcome.message, outcome.message
            assert lab.differences(model, "now") == [], (model.name, change)
            texts = "t, n" if model.name in ("partners", "keyed") else "1"
            assert lab.rows(f"select {texts} from $.{model.name}") == lab.rows(f"select {texts} from ({model.sql})"), model.name


@pytest.mark.long
def test_averages_of_big_integers(lab: Project) -> None:
    """Spark adds them up as DOUBLEs: what a BIGINT cannot hold is no error, and what a DOUBLE cannot hold is lost."""
    lab.table("t", "id int, g int, n bigint", "(1, 1, 9007199254740992)", "(2, 1, 1)", f"(3, 2, {2**62})", f"(4, 2, {2**62})")
    means = lab.model("means", "select g, avg(n) as mean, count(*) as rows from $.t group by g", {"t": ["id"]})
    refreshed(lab, means, "create")
    lab.sql(f"insert into $.t values (5, 1, 1), (6, 2, {2**62})")
    refreshed(lab, means)
    assert set(lab.rows("select g, mean from $.means")) == {(1, 2.0**53 / 3), (2, 2.0**62)}


@pytest.mark.long
def test_averages_of_decimals(lab: Project) -> None:
    """A quotient just below half of its last digit: rounded twice it would be another one."""
    lab.table(
        "t",
        "id int, g int, x decimal(22,2), y decimal(22,0)",
        *(f"({each}, 1, 0.01, -1)" for each in range(198)),
        "(198, 1, 0, 0)",
        "(199, 1, 0, 0)",
        "(200, 1, 0, 0)",
        "(201, 2, null, null)",
    )
    means = lab.model("means", "select g, avg(x) as x, avg(y) as y, avg(x) * 2 as z from $.t group by g", {"t": ["id"]})
    refreshed(lab, means, "create")
    lab.sql("update $.t set x = 0.01, y = -1 where id = 200")
    refreshed(lab, means)
    assert lab.rows("select string(x), string(y), string(z) from $.means where g = 1") == Counter(
        {("0.009900", "-0.9900", "0.019800"): 1}
    )
    assert any("AS DECIMAL(34, 2)) / " in each.sql for each in lab.executed)


@pytest.mark.long
def test_first_and_last_day(lab: Project) -> None:
    """Delta would answer from its log, and fail: without a group or a condition nothing but the log is needed."""
    lab.table("t", "id int, d date", "(1, date'1582-10-10')", "(2, date'2024-02-29')")
    days = lab.model("days", "select min(d) as first, max(d) as last from $.t", {"t": ["id"]})
    assert lab.refresh(days).mode == "create"
    lab.sql("insert into $.t values (3, date'9999-12-31')")
    lab.refresh(days)
    assert lab.is_exact(days)
    assert [str(day) for row in lab.rows("select string(first), string(last) from $.days") for day in row] == [
        "1582-10-10",
        "9999-12-31",
    ]


@pytest.mark.long
def test_bytes_that_are_no_text(lab: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change feed shows them all as U+FFFD, so the view is rebuilt; a real U+FFFD is a text like any other."""
    lab.sql(
        "create table $.t (id int, s string, a array<string>) using delta tblproperties ('delta.enableChangeDataFeed' = 'true')",
        "insert into $.t values (1, 'a', array('b'))",
    )
    copy = lab.model("copy", "select * from $.t", {"t": ["id"]})
    groups = lab.model("groups", "select s, count(*) as n from $.t group by s")
    number = lab.model("number", "select count(*) as n, max(id) as last from $.t")
    for model in (copy, groups, number):
        refreshed(lab, model, "create")
    hidden = "update $.t set s = cast(X'FE' as string) where id = 3"  # the feed shows no difference
    for change, mode, models in (
        ("insert into $.t values (2, '\ufffd', array('\ufffd'))", "incremental", (copy, groups)),
        ("insert into $.t values (3, cast(X'FF' as string), array()), (4, 'c', array())", "full", (copy, groups, number)),
        (hidden, "full", (copy, groups)),
        (hidden.replace("FE", "FD"), "full", (groups,)),
        ("update $.t set s = 'd' where id = 1", "incremental", (groups,)),
        ("delete from $.t where id = 3", "full", (groups,)),
        ("update $.t set a = array(cast(X'FF' as string)) where id = 4", "full", (copy,)),
    ):
        if "FD" in change:
            monkeypatch.setattr("dbt_idivm.refresh.changes.net_diffs.INLINE_ROWS", 0)
        lab.sql(change)
        lab.new_run()
        for model in models:
            outcome = refreshed(lab, model, "incremental" if model is number else mode)
            assert outcome.mode != "full" or (outcome.reason or "").startswith("IDIVM-416"), change


@pytest.mark.long
def test_padded_strings(lab: Project) -> None:
    """CHAR(n) is compared with blanks added, which literal rows would not be: a view that reads such a column is rebuilt."""
    lab.sql(
        "create table $.t (id int, c char(3), v varchar(3), n int) using delta tblproperties "
        "('delta.enableChangeDataFeed' = 'true')",
        "insert into $.t values (1, 'a', 'a', 1), (2, 'b', 'b ', 2)",
    )
    of_char = [
        lab.model("chosen", "select id, n from $.t where c = 'b'", {"t": ["id"]}),
        lab.model("kept", "select id, c from $.t", {"t": ["id"]}),
        lab.model("texts", "select concat('<', c, '>') as t, sum(n) as n from $.t group by c", {"t": ["id"]}),
    ]
    others = [
        lab.model("varying", "select v, n from $.t where v = 'b '", {"t": ["id"]}),
        lab.model("numbers", "select n, count(*) as rows from $.t group by n"),
    ]
    for model in (*of_char, *others):
        refreshed(lab, model, "create")
    lab.sql("insert into $.t values (3, 'b', 'b', 5), (4, '', 'b ', 1), (5, null, null, 1)")
    lab.new_run()
    for model in of_char:
        assert "column c of" in (refreshed(lab, model, "full").reason or "")
    for model in others:
        refreshed(lab, model)


@pytest.mark.long
def test_nested_values(lab: Project) -> None:
    """Arrays, structs with odd field names, maps: they go by the feed, and are compared by the engine."""
    lab.sql(
        "create table $.t (id int, a array<string>, s struct<x: double, `Y y`: string>, m map<string, int>, w struct<"
        + ", ".join(f"f{n}: int" for n in range(30))
        + ">) using delta tblproperties ('delta.enableChangeDataFeed' = 'true', "
        "'delta.columnMapping.mode' = 'name')"
    )
    mapped = {"tblproperties": {"delta.columnMapping.mode": "name"}}
    models = [
        lab.model("copy", "select id, a, s, w from $.t", {"t": ["id"]}, dbt=mapped),
        lab.model("fields", "select id, s.`Y y` as y, w.f29 from $.t", {"t": ["id"]}),
        lab.model("bag", "select a, s.x as x from $.t", dbt=mapped),
    ]
    counted = "select m['a'] as a, count(*) as n from $.t where m is not null group by m['a']"
    models += [
        lab.model("maps", "select id, m, map('a', m['a'], 'id', id) as made from $.t", {"t": ["id"]}),
        lab.model("of_maps", counted, {"t": ["id"]}),
        lab.model("only_maps", "select m from $.t where id <> 3", {"t": ["id"]}),
    ]
    rebuilt = lab.model("keyless", "select m from $.t")
    for model in (*models, rebuilt):
        refreshed(lab, model, "create")
    wide = ", ".join(f"'f{n}', {n}" for n in range(30))
    first = f"array('''', null, '${{x}}'), named_struct('x', 1, 'Y y', '--'), map('a', 1), named_struct({wide})"
    for change in (
        f"insert into $.t values (1, {first}), (2, array(), null, null, null)",
        "insert into $.t values (3, null, named_struct('x', null, 'Y y', null), map(), null)",
        "update $.t set a = array(''), w = null where id = 1",
        "update $.t set s = null, m = map('b', 2) where id = 3",
        "update $.t set m = map('a', m['a'] + 1) where id = 1",
        "update $.t set m = map('b', 2, 'a', 1) where id = 3",
        "delete from $.t where id = 2",
    ):
        lab.sql(change)
        lab.new_run()
        for model in models:
            refreshed(lab, model)
    assert "of type MAP" in (refreshed(lab, rebuilt, "full").reason or "")


@pytest.mark.long
@seed(20260101)
@settings(max_examples=1, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(texts=st.lists(STRINGS, min_size=150, max_size=200))
def test_strings(spark: Any, texts: list[str]) -> None:
    """Hundreds of strings in one refresh, as values, as keys and as groups."""
    with project_in(spark, "hostile_strings") as project:
        project.table("t", "k string, s string")
        models = [
            project.model("copy", "select * from $.t", {"t": ["k"]}),
            project.model("groups", "select s, count(*) as n from $.t group by s", {"t": ["k"]}),
        ]
        for model in models:
            refreshed(project, model, "create")
        texts = [*texts, "x" * 70_000]
        pairs = [(text, texts[-number]) for number, text in enumerate(dict.fromkeys(texts))]
        project.spark.createDataFrame(pairs, "k string, s string").createOrReplaceTempView("given_pairs")
        for change in (
            "insert into $.t select * from given_pairs",
            "update $.t set s = concat(k, '\\\\\\'') where length(k) % 2 = 0",
            "delete from $.t where length(s) % 3 = 0",
        ):
            project.sql(change)
            project.new_run()
            for model in models:
                refreshed(project, model)
                assert not staged(project)

"""`output: diffs` and `both` on Spark + Delta: what subscribers replay equals the query after each refresh."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.protocol import Outcome, Refresh
from tests.functional.project import Project, project_in
from tests.functional.subscriber import Subscriber

KEYS = {"orders": ["id"], "cust": ["id"]}
JOIN = "select o.note, c.name from $.orders o join $.cust c on o.cust = c.id where o.price > 1"  # hides both keys
GROUPS = "select cust, sum(price) as total, count(*) as n, max(note) as last from $.orders group by cust"
FLOATS = "select cust, sum(cast(price as double)) as total from $.orders group by cust"
QUERIES = {
    "join": JOIN,
    "groups": GROUPS,
    "bag": "select note, cust from $.orders union all select name, id from $.cust",
    "outer": "select o.id, c.name from $.orders o left join $.cust c on o.cust = c.id",
    "distinct": "select distinct cust, price > 4 as dear from $.orders",
    "absent": "select c.name from $.cust c where not exists (select 1 from $.orders o where o.cust = c.id and o.price > 3)",
    "latest": "select id, cust from (select id, cust, row_number() over (partition by cust order by price desc, id) as place "
    "from $.orders) where place = 1",
    "total": "select count(*) as n, sum(price) as total from $.orders",
    "floats": FLOATS,
}


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    with project_in(spark, "l_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        project.table(
            "orders",
            "id int, cust int, price int, note string",
            "(1, 1, 5, 'a')",
            "(2, 1, 7, 'b')",
            "(3, 2, 1, null)",
            "(4, 1, 5, 'a')",
        )
        project.table("cust", "id int, name string", "(1, 'ann')", "(2, 'bob')")
        yield project


def replayed(project: Project, model: ModelRequest, number: int | None = None) -> Counter[tuple[Any, ...]]:
    subscriber = Subscriber(project, model)
    if number is not None:
        subscriber.log = f"(select * from {subscriber.log} where idivm__refresh <= {number})"
    subscriber.catch_up()
    return subscriber.rows


def refreshed(project: Project, model: ModelRequest, mode: str | None = None, **changes: Any) -> Outcome:
    """A refresh after which the log replays to the query's rows, and the model shows them."""
    outcome = project.refresh(model, **changes)
    assert mode in (None, outcome.mode), outcome.message
    assert replayed(project, model) == project.rows(model.sql), outcome.message
    assert project.is_exact(model) and project.differences(model) == []
    return outcome


def log_of(project: Project, model: ModelRequest) -> list[tuple[Any, ...]]:
    return project.sql(f"select * from $.{model.identifier}__idivm_changes order by idivm__refresh")


def test_diffs(shop: Project) -> None:
    """No view is kept; each refresh is one commit of net changes with their vector, numbered; nothing new, no commit."""
    model = shop.model("v", JOIN, KEYS, output="diffs")
    created = refreshed(shop, model, "create")
    assert created.relations == ((shop.schema, "v", "view"), (shop.schema, "v__idivm_changes", "table"))
    assert {row[-2] for row in log_of(shop, model)} == {0} and shop.relations() == {
        "orders": "table",
        "cust": "table",
        "v": "view",
        "v__idivm_changes": "table",
    }
    shop.sql("insert into $.orders values (5, 2, 9, 'e')", "update $.cust set name = 'ANN' where id = 1")
    outcome = refreshed(shop, model, "incremental")
    writes = [each for each in shop.executed if each.kind == "write"]
    assert outcome.strategy == "tuple" and [each.label.rpartition(".")[2] for each in writes] == ["v__idivm_changes"]
    new = Counter(row[:4] for row in log_of(shop, model) if row[-2] == 1)
    assert new == {
        ("e", "bob", "insert", 1): 1,
        ("a", "ann", "delete", 2): 1,
        ("a", "ANN", "insert", 2): 1,
        ("b", "ann", "delete", 1): 1,
        ("b", "ANN", "insert", 1): 1,
    }
    (vector,) = {row[-1] for row in log_of(shop, model) if row[-2] == 1}
    assert json.loads(vector) == {f"{shop.schema}.orders": 1, f"{shop.schema}.cust": 1}
    assert refreshed(shop, model, "noop").statements == 0


@pytest.mark.long
def test_a_log_of_a_table_that_was_dropped(shop: Project) -> None:
    """The table is another one then, whose versions begin anew: the log does not take it for an older state of the former."""
    model = shop.model("v", "select id, note from $.orders", KEYS, output="both")
    for number in (7, 8, 9):
        refreshed(shop, model)
        shop.sql(f"insert into $.orders values ({number}, 2, 9, 'n')")
    shop.sql("drop table $.v")
    refreshed(shop, model, "create")
    shop.sql("delete from $.orders where id = 8")
    refreshed(shop, model, "incremental")


@pytest.mark.long
def test_the_equivalence_test_reads_a_log_beside_a_view(shop: Project) -> None:
    model = shop.model("v", JOIN, KEYS, output="both")
    refreshed(shop, model, "create")
    shop.sql("delete from $.v__idivm_changes where note = 'a'")
    assert [tuple(row) for row in shop.differences(model)] == [("a", "ann", -2)]
    shop.sql("update $.cust set name = 'ANN' where id = 1")
    refreshed(shop, model)


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_random_batches(shop: Project, output: str) -> None:
    """Whatever changes, each log replays to its query as of each refresh, and a subscriber that reads at times is never wrong."""
    drawn = random.Random(36)
    models = [shop.model(name, sql, KEYS, output=output, volatile="full") for name, sql in QUERIES.items()]
    subscribers = {model.name: Subscriber(shop, model) for model in models}
    seen: dict[str, list[tuple[int, Counter[Any]]]] = {model.name: [] for model in models}
    for batch in range(6):
        for _ in range(drawn.randrange(3) if batch else 0):
            shop.sql(drawn_change(drawn))
        for model in models:
            refreshed(shop, model, "create" if not batch else None)
            seen[model.name].append((max(row[-2] for row in log_of(shop, model)), shop.rows(model.sql)))
            if drawn.random() < 0.5:
                subscribers[model.name].catch_up()
                assert subscribers[model.name].rows == shop.rows(model.sql)
    for model in models:
        for number, rows in seen[model.name]:
            assert replayed(shop, model, number) == rows, (model.name, number)


def drawn_change(drawn: random.Random) -> str:
    orders = (
        f"({drawn.randrange(10, 99)}, {drawn.choice(['1', '2', '3', 'null'])}, {drawn.randrange(9)}, "
        f"{drawn.choice(['null', chr(39) + drawn.choice('abc') + chr(39)])})"
    )
    return drawn.choice(
        [
            f"merge into $.orders t using (select * from values {orders} as s(id, cust, price, note)) s on t.id = s.id "
            "when matched then delete when not matched then insert *",
            f"update $.orders set price = price + 1, cust = {drawn.randrange(1, 4)} where id % 3 = {drawn.randrange(3)}",
            f"delete from $.orders where id % 7 = {drawn.randrange(7)}",
            f"update $.cust set name = name || '{drawn.randrange(9)}' where id = {drawn.randrange(1, 4)}",
            f"merge into $.cust t using (select {drawn.randrange(1, 5)} as id) s on t.id = s.id "
            "when matched then delete when not matched then insert (id, name) values (s.id, 'new')",
            "update $.orders set note = 'a' where id = 1",
        ]
    )


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_what_is_rebuilt_appends_the_difference(shop: Project, output: str) -> None:
    """A gap in the feed, --full-refresh, another SELECT of the same columns, a foreign write to the log."""
    model = shop.model("v", GROUPS, KEYS, output=output)
    refreshed(shop, model, "create")
    before = log_of(shop, model)
    assert refreshed(shop, model, "full", full_refresh=True).mode == "full"
    assert log_of(shop, model) == before, "nothing differs"
    switch = "alter table $.orders set tblproperties ('delta.enableChangeDataFeed' = '{}')"
    shop.sql(switch.format("false"), "update $.orders set price = 50 where id = 1", switch.format("true"))
    assert "403" in (refreshed(shop, model, "full").reason or "")
    other = shop.model("v", GROUPS.replace("group by", "where price > 1 group by"), KEYS, output=output)
    refreshed(shop, other, "full")
    shop.sql("delete from $.v__idivm_changes where cust = 1", "insert into $.orders values (5, 2, 9, 'e')")
    refreshed(shop, other)
    shop.sql("insert into $.orders values (6, 1, 9, 'e')")
    refreshed(shop, other, "incremental")


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_other_columns_begin_a_log_anew(shop: Project, output: str) -> None:
    """Its numbers continue, so that a subscriber knows that it has to start over."""
    refreshed(shop, shop.model("v", GROUPS, KEYS, output=output), "create")
    shop.sql("insert into $.orders values (5, 2, 9, 'e')")
    refreshed(shop, shop.model("v", GROUPS, KEYS, output=output), "incremental")
    wider = shop.model("v", GROUPS.replace("cust,", "cust, min(price) as least,", 1), KEYS, output=output)
    refreshed(shop, wider, "full")
    assert {row[-2] for row in log_of(shop, wider)} == {2}
    shop.sql("insert into $.orders values (6, 2, 9, 'e')")
    refreshed(shop, wider, "incremental")


@pytest.mark.long
def test_the_output_changes(shop: Project) -> None:
    """Between runs, in all directions; nothing is left behind, and a log that stays continues."""
    outputs = ["view", "diffs", "both", "diffs", "view", "both", "view", "both", "diffs"]
    for number, output in enumerate(outputs):
        model = shop.model("v", JOIN, KEYS, output=output)
        kept = log_of(shop, model) if "v__idivm_changes" in shop.relations() else []
        if output == "view":
            shop.refresh(model)
            assert shop.is_exact(model)
        else:
            refreshed(shop, model)
            assert log_of(shop, model)[: len(kept)] == kept
        log, table = {"v__idivm_changes": "table"}, {"v__idivm": "table"}
        made = {"view": table, "diffs": log, "both": log | table}[output]
        assert shop.relations() == {"orders": "table", "cust": "table", "v": "view"} | made
        shop.sql(f"insert into $.orders values ({10 + number}, 1, 5, 'x')")


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_a_run_over_a_part_of_the_data_leaves_the_log(shop: Project, output: str) -> None:
    model = shop.model("v", JOIN, KEYS, output=output)
    empty = shop.within(JOIN.replace("$.orders", "(select * from $.orders where false limit 0)"))
    assert shop.refresh(model, restricted=True, sql=empty).mode == "create"
    assert shop.rows("select * from $.v") == Counter() and "v__idivm_changes" not in shop.relations()
    refreshed(shop, model)
    before = log_of(shop, model)
    assert shop.refresh(model, restricted=True, sql=empty).mode == "full"
    assert shop.rows("select * from $.v") == Counter() and log_of(shop, model) == before
    shop.sql("insert into $.orders values (5, 2, 9, 'e')")
    refreshed(shop, model)


@pytest.mark.long
def test_what_cannot_be_computed_again_is_compared(shop: Project) -> None:
    """A sum of floats: the query is compared with the log each time, or it is an error if the model says so."""
    model = shop.model("v", FLOATS, KEYS, output="diffs")
    refreshed(shop, model, "create")
    shop.sql("insert into $.orders values (5, 2, 9, 'e')")
    assert "IDIVM-408" in (refreshed(shop, model, "full").reason or "")
    with pytest.raises(IdivmError, match="IDIVM-237"):
        shop.refresh(shop.model("v", FLOATS, KEYS, output="diffs", on_unsupported="error"))
    assert refreshed(shop, shop.model("w", FLOATS, KEYS, output="both"), "create").reason is None


@pytest.mark.long
def test_zeros_and_texts_that_are_not_utf8(shop: Project) -> None:
    """0.0 and -0.0 are two rows of a log, and what a feed cannot show is compared."""
    shop.table("readings", "id int, x double, t binary", "(1, 0.0D, x'ff')", "(2, -0.0D, x'61')", "(3, double('nan'), null)")
    copies = "sum(case idivm__change when 'insert' then idivm__copies else -idivm__copies end)"
    for output in ("diffs", "both"):
        sql = "select x, cast(t as string) as raw from $.readings"
        model = shop.model(f"v_{output}", sql, {"readings": ["id"]}, output=output)
        shop.refresh(model)
        shop.sql("update $.readings set x = -x where id <= 2", "update $.readings set t = x'fe' where id = 1")
        shop.refresh(model)
        assert shop.differences(model) == []
        replay = f"select cast(x as string), hex(raw), {copies} from $.{model.identifier}__idivm_changes group by all"
        wanted = f"select cast(x as string), hex(raw), count(*) from ({model.sql}) group by all"
        assert shop.rows(f"{replay} having {copies} <> 0") == shop.rows(wanted)


@pytest.mark.long
def test_names_that_the_log_has(shop: Project) -> None:
    for output in ("diffs", "both"):
        with pytest.raises(IdivmError, match="IDIVM-122"):
            shop.refresh(shop.model(f"v_{output}", "select id as IDIVM__copies from $.orders", KEYS, output=output))


@pytest.mark.long
def test_a_model_above(shop: Project) -> None:
    """It reads the tables of the query; the log is a table with a feed as any other."""
    below = shop.model("v", JOIN, KEYS, output="diffs")
    refreshed(shop, below)
    above = shop.model("w", "select name, count(*) as n from $.v group by name", KEYS)
    onwards = shop.model("x", "select idivm__refresh, count(*) as n from $.v__idivm_changes group by idivm__refresh", KEYS)
    assert shop.refresh(above).mode == "create" and shop.refresh(onwards).mode == "create"
    shop.sql("insert into $.orders values (5, 2, 9, 'e')")
    refreshed(shop, below, "incremental")
    for model in (above, onwards):
        assert shop.refresh_in_run(model).mode == "incremental"
        assert shop.is_exact(model)


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_caches_and_unkeyed_tables(shop: Project, output: str) -> None:
    sql = """with totals as (select cust, sum(price) as total from $.orders group by cust)
        select c.name, t.total from totals t join $.cust c on t.cust = c.id"""
    model = shop.model("v", sql, {"orders": ["id"]}, output=output, caches=["totals"])
    refreshed(shop, model, "create")
    assert any("cache" in name for name in shop.relations())
    shop.sql("insert into $.orders values (5, 2, 9, 'e')", "insert into $.cust values (1, 'ann')")
    refreshed(shop, model, "incremental")
    (vector,) = {row[-1] for row in log_of(shop, model) if row[-2] == 1}
    assert set(json.loads(vector)) == {f"{shop.schema}.orders", f"{shop.schema}.cust"}


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_a_subscriber_reads_while_a_refresh_runs(shop: Project, output: str) -> None:
    """Before and after each statement the log replays to the old rows or to the new ones."""
    model = shop.model("v", JOIN, KEYS, output=output)
    refreshed(shop, model, "create")
    subscriber, old = Subscriber(shop, model), shop.rows(model.sql)
    shop.sql("update $.cust set name = 'ANN' where id = 1", "insert into $.orders values (5, 2, 9, 'e')")
    new, seen = shop.rows(model.sql), []
    shop.new_run()
    steps = Refresh(refresh(shop.request(model), shop.invocation))
    other = shop.spark.newSession()
    while steps.statement is not None:
        steps.answer(shop.run(steps.statement))
        mine, shop.spark = shop.spark, other
        subscriber.catch_up()
        shop.spark = mine
        seen.append(subscriber.rows == new)
        assert subscriber.rows in (old, new)
    assert seen == sorted(seen) and seen[-1] and not seen[0]


@pytest.mark.long
@pytest.mark.parametrize("output", ["diffs", "both"])
def test_two_runs_at_once(shop: Project, output: str) -> None:
    """One of them fails, or has nothing to do; nothing is appended twice."""
    model = shop.model("v", JOIN, KEYS, output=output)
    refreshed(shop, model, "create")
    shop.sql("insert into $.orders values (5, 2, 9, 'e')")
    shop.new_run()
    first = Refresh(refresh(shop.request(model), shop.invocation))
    while first.statement is not None and "v__idivm_changes" not in first.statement.label.partition("append to")[2]:
        first.answer(shop.run(first.statement))
    mine, shop.spark = shop.spark, shop.spark.newSession()
    refreshed(shop, model)
    shop.spark = mine
    with pytest.raises(IdivmError, match="IDIVM-903"):
        while first.statement is not None:
            first.answer(shop.run(first.statement))
    refreshed(shop, model, "noop")


@pytest.mark.long
def test_in_dbt(project: Any) -> None:
    """Through the materialization: test, comments, constraints, orphans, --empty, and what another materialization leaves."""

    def write(materialized: str, output: str, columns: str = "cust, sum(price) as total") -> None:
        config = f"{{{{ config(materialized='{materialized}', meta={{'idivm': {{'output': '{output}'}}}}) }}}}"
        project.write("models/totals.sql", f"{config}\nselect {columns} from {{{{ ref('orders') }}}} group by cust\n")

    project.write("seeds/orders.csv", "id,cust,price\n1,1,10\n2,1,20\n3,2,30\n")
    project.write("seeds/s.yml", "seeds: [{name: orders, columns: [{name: id, data_tests: [unique, not_null]}]}]")
    project.write(
        "models/s.yml",
        """
        models:
          - name: totals
            description: per customer
            config: {persist_docs: {relation: true, columns: true}, contract: {enforced: true}}
            columns:
              - {name: cust, data_type: bigint, description: who, constraints: [{type: not_null}]}
              - {name: total, data_type: bigint}
            data_tests: [idivm_equivalent]
        """,
    )
    write("idivm", "diffs")
    project.dbt("seed")
    project.dbt("run", "--empty", "--select", "totals")
    assert project.relations() == {"orders": "table", "totals": "view"}
    project.dbt("build", "--select", "totals")
    log = {"orders": "table", "totals": "view", "totals__idivm_changes": "table"}
    assert project.relations() == log
    assert [row[2] for row in project.sql("describe $.totals")] == ["who", None]
    project.sql("insert into $.orders values (4, 2, 5)")
    assert project.results("run", "--select", "totals")["totals"].adapter_response["mode"] == "incremental"
    project.dbt("test", "--select", "totals")
    found = project.sql(
        "select cust, total, idivm__change, idivm__copies from $.totals__idivm_changes "
        "where idivm__refresh > 0 order by idivm__change"
    )
    assert found == [(2, 30, "delete", 1), (2, 35, "insert", 1)]
    project.sql("insert into $.totals__idivm_changes values (9, 9, 'insert', 1, 9, '{}')")
    project.dbt("test", "--select", "totals", fails=True)
    project.dbt("build", "--select", "totals")
    project.dbt("run-operation", "idivm_orphans")
    assert project.relations() == log
    write("idivm", "both")
    project.dbt("build", "--select", "totals")
    assert project.relations() == log | {"totals": "table"} or project.relations() == log | {"totals__idivm": "table"}
    write("view", "diffs")
    project.dbt("run", "--select", "totals")
    assert project.relations() == {"orders": "table", "totals": "view"}

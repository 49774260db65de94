"""Refreshes on Spark + Delta, driven without dbt: each way to apply, each size of diff, compared with recomputation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.protocol import Outcome
from tests.functional.project import Project, project_in


@pytest.fixture
def shop(spark: Any, request: pytest.FixtureRequest) -> Iterator[Project]:
    """Orders and customers with keys; `add_log` adds a table without one."""
    with project_in(spark, "s_" + request.node.name.partition("[")[0].removeprefix("test_")[:40]) as project:
        project.table(
            "orders",
            "id int, cust int, price decimal(10,2), note string",
            "(1, 1, 5.00, 'a')",
            "(2, 1, 7.50, 'b')",
            "(3, 2, 1.00, null)",
            "(4, null, 2.00, 'd')",
        )
        project.table("cust", "id int, name string, region string", "(1, 'ann', 'n')", "(2, 'bob', null)", "(3, 'cy', 'n')")
        yield project


def add_log(shop: Project) -> None:
    shop.table("log", "cust int, amount int", "(1, 10)", "(1, 10)", "(2, 5)", "(null, 1)")


KEYS = {"orders": ["id"], "cust": ["id"]}
SPJ = "select o.id, o.price * 2 as twice, c.name from $.orders o join $.cust c on o.cust = c.id where o.price > 1"
GROUPS = """select c.region, count(*) as n, count(o.note) as notes, sum(o.price) as total
            from $.orders o join $.cust c on o.cust = c.id group by c.region"""


def refreshed(shop: Project, model: ModelRequest, **changes: Any) -> Outcome:
    """A refresh after which the view equals its definition."""
    outcome = shop.refresh(model, **changes)
    assert shop.is_exact(model), outcome.message
    return outcome


def counts(outcome: Outcome) -> tuple[int, int, int]:
    return outcome.rows_inserted, outcome.rows_updated, outcome.rows_deleted


def test_direct(shop: Project) -> None:
    """Updates of attributes that no condition uses go to the view without a look at the other table."""
    model = shop.model("spj", SPJ, KEYS)
    created = refreshed(shop, model)
    assert (created.mode, created.strategy, created.reason) == ("create", None, None)
    assert [kind for _, _, kind in created.relations] == ["view", "table"], "the customer's key is hidden"
    assert refreshed(shop, model).message == "noop: nothing changed, 0 statements"
    assert shop.kinds == {"metadata": 4}, "the view, its history, and the history of each input"
    shop.sql("update $.cust set name = 'ANN' where id = 1", "update $.cust set region = 'x' where id = 2")
    outcome = refreshed(shop, model)
    assert (outcome.mode, outcome.strategy, counts(outcome)) == ("incremental", "id", (0, 2, 0))
    assert "$.orders".replace("$", shop.schema) not in written(shop)
    assert outcome.inputs[f"{shop.schema}.cust"].rows == 4, "two rows, each with both images"
    assert refreshed(shop, model).mode == "noop"


@pytest.mark.long
def test_append(shop: Project) -> None:
    """New rows of a table are new rows of the view: an INSERT, which reads the view as little as it reads other orders."""
    model = shop.model("spj", SPJ, KEYS)
    refreshed(shop, model)
    shop.sql("insert into $.orders values (10, 1, 9, 'n'), (11, 3, 8, null), (12, 7, 8, null)")
    outcome = refreshed(shop, model)
    assert (outcome.mode, outcome.strategy, counts(outcome)) == ("incremental", "id", (2, 0, 0))
    (insert,) = (s for s in shop.executed if s.kind == "write")
    assert insert.label == f"append to {shop.schema}.spj__idivm" and "INSERT INTO" in insert.sql and "MERGE" not in insert.sql
    assert refreshed(shop, model).mode == "noop"
    shop.sql("insert into $.cust values (7, 'new', null)", "insert into $.orders values (13, 7, 8, null)")
    assert counts(refreshed(shop, model)) == (2, 0, 0), "a pair of which both are new is one row"
    shop.sql("insert into $.orders values (14, 99, 8, null)")
    assert refreshed(shop, model).mode in ("noop", "incremental"), "no partner: nothing is inserted"


@pytest.mark.deep
def test_deletion_vectors(shop: Project) -> None:
    """Tables of views have them unless the user says otherwise, and the change feed of such a view is what another one reads."""
    model = shop.model("v", "select id, name from $.cust where region is null or region <> 'z'", KEYS)
    above = shop.model("above", "select c.name, o.price from $.v c join $.orders o on o.cust = c.id", KEYS)
    for each in (model, above):
        refreshed(shop, each)
    assert shop.properties("v")["delta.enableDeletionVectors"] == "true"
    shop.sql("update $.cust set name = 'x' where id = 2", "delete from $.cust where id = 3", "update $.cust set region = 'y'")
    for each in (model, above):
        assert refreshed(shop, each).mode == "incremental"
    own = shop.model("own", "select id from $.cust", KEYS, {"tblproperties": {"delta.enableDeletionVectors": "false"}})
    refreshed(shop, own)
    assert shop.properties("own")["delta.enableDeletionVectors"] == "false"


@pytest.mark.long
def test_rows_that_no_table_has(shop: Project) -> None:
    """A query of constants is built once; constants beside the rows of a table are not touched."""
    alone = shop.model(
        "alone", "select * from values (1, 'a', 1.5), (2, null, 22.25) as t(x, y, z) union all select 3, 'c', null"
    )
    assert refreshed(shop, alone).mode == "create"
    assert refreshed(shop, alone).message == "noop: nothing changed, 0 statements"
    assert shop.forecast(alone).mode == "noop"
    member = shop.model("member", "select id, name from $.cust union all select -1, 'unknown'", KEYS)
    joined = shop.model(
        "joined",
        "select c.region, v.q, count(*) as n from $.cust c join values ('n', 1), ('n', 1), ('s', 2) "
        "as v(region, q) on v.region = c.region where c.id in (values 1, 2, 3) group by c.region, v.q",
        KEYS,
    )
    for model in (member, joined):
        assert refreshed(shop, model).mode == "create"
    shop.sql(
        "update $.cust set name = 'ANN' where id = 1",
        "update $.cust set region = 's' where id = 3",
        "insert into $.cust values (-1, 'unknown', 'n')",
        "delete from $.cust where id = 2",
    )
    outcome = refreshed(shop, member)
    assert (outcome.mode, counts(outcome)) == ("incremental", (1, 1, 1))
    outcome = refreshed(shop, joined)
    assert (outcome.mode, counts(outcome)) == ("incremental", (1, 1, 0))
    assert refreshed(shop, alone, full_refresh=True).mode == "full"
    assert refreshed(shop, alone).mode == "noop"


def written(shop: Project) -> str:
    """The SQL by which the last refresh changed the view, and of what it asked for it."""
    return "\n".join(s.sql for s in shop.executed if s.kind == "write" or s.label.startswith("changes of"))


def staged(shop: Project) -> list[str]:
    """The feeds that the last refresh kept in the engine."""
    return [s.sql for s in shop.executed if s.sql.startswith("CACHE TABLE")]


@pytest.mark.deep
def test_equivalence_query(shop: Project) -> None:
    """It compares with the versions that the view was built from, sees what is wrong, and knows views of views.

    What Spark derives from a correlated subquery in a select list it cannot carry through UNION.
    """
    shop.sql("create view $.rich as select id, cust, price from $.orders where price > 2")
    model = shop.model("spj", SPJ.replace("$.orders", "$.rich"), KEYS)
    above = shop.model(
        "above", "select id, name, (select max(price) from $.orders o where o.id = s.id) as most from $.spj s where twice > 3"
    )
    shop.refresh(model)
    shop.refresh(above)
    shop.sql("insert into $.orders values (9, 1, 9.00, 'x')")
    assert shop.differences(model) == [] and shop.differences(above) == []
    assert len(shop.differences(model, "now")) == 1
    shop.sql("update $.spj__idivm set name = 'wrong' where id = 1")
    assert sorted(row["idivm_difference"] for row in shop.differences(model)) == [-1, 1]


@pytest.mark.long
def test_several_inputs_at_once(shop: Project) -> None:
    """Partners that are inserted, deleted and updated together, NULLs and moved rows."""
    model = shop.model("spj", SPJ, KEYS)
    refreshed(shop, model)
    shop.rewrite(
        "orders",
        "(1, 2, 5.00, 'a')",
        "(3, 2, 1.00, null)",
        "(4, 3, 2.00, 'd')",
        "(5, 3, 9.99, null)",
        "(6, 9, 3.00, 'no partner')",
    )
    shop.rewrite("cust", "(1, 'ann', 'n')", "(3, 'cy', 'n')", "(9, 'new', 'w')")
    outcome = refreshed(shop, model)
    assert outcome.mode == "incremental" and outcome.strategy == "recompute"
    assert outcome.reason is not None and "recomputed" in outcome.reason
    shop.rewrite("cust", "(1, 'ann', 'n')", "(2, 'bob again', 'n')", "(3, 'cy', 'n')", "(9, 'new', 'w')")
    shop.sql("update $.orders set id = 7 where id = 1")
    assert refreshed(shop, model).mode == "incremental"


@pytest.mark.deep
def test_groups(shop: Project) -> None:
    """Sums and counts by adding; groups that are created, deleted, and lose their last value."""
    model = shop.model("groups", GROUPS, KEYS)
    refreshed(shop, model)
    shop.sql(
        "insert into $.orders values (5, 3, 1.25, 'x')",
        "update $.orders set note = null where id = 1",
        "delete from $.orders where id = 3",
    )
    outcome = refreshed(shop, model)
    assert outcome.mode == "incremental" and counts(outcome) == (0, 1, 1)
    shop.sql("update $.cust set region = 'w' where id = 1", "insert into $.orders values (6, 2, 4.00, null)")
    assert refreshed(shop, model).mode == "incremental"
    shop.sql("delete from $.orders where cust is not null")
    assert refreshed(shop, model).mode == "incremental"
    assert shop.rows("select * from $.groups") == {}


@pytest.mark.long
def test_global_aggregate(shop: Project) -> None:
    """One row always, also over nothing."""
    add_log(shop)
    model = shop.model("total", "select count(*) as n, sum(amount) as total from $.log")
    refreshed(shop, model)
    shop.sql("insert into $.log values (7, 70)", "delete from $.log where cust = 1")
    assert refreshed(shop, model).mode == "incremental"
    shop.sql("delete from $.log")
    assert refreshed(shop, model).mode == "incremental"
    assert shop.rows("select * from $.total") == {(0, None): 1}


@pytest.mark.long
def test_bag(shop: Project) -> None:
    """An input without a key: copies count."""
    add_log(shop)
    model = shop.model("bag", "select l.cust, l.amount, c.name from $.log l join $.cust c on l.cust = c.id", {"cust": ["id"]})
    refreshed(shop, model)
    shop.sql("insert into $.log values (1, 10), (1, 10), (3, 1)", "delete from $.log where cust = 2")
    assert refreshed(shop, model).mode == "incremental"
    shop.sql("update $.cust set name = 'x' where id = 1")
    assert refreshed(shop, model).mode == "incremental"
    assert shop.rows("select * from $.bag") == {(1, 10, "x"): 4, (3, 1, "cy"): 1}


@pytest.mark.long
def test_self_join_and_union(shop: Project) -> None:
    model = shop.model(
        "pairs",
        """select a.id as one, b.id as other from $.orders a join $.orders b on a.cust = b.cust
                                   union all select id, cust from $.orders where price > 2""",
        KEYS,
    )
    refreshed(shop, model)
    shop.rewrite(
        "orders", "(1, 2, 5.00, 'a')", "(2, 1, 1.00, 'b')", "(3, 2, 1.00, null)", "(4, null, 2.00, 'd')", "(8, 2, 3.00, 'x')"
    )
    assert refreshed(shop, model).mode == "incremental"


@pytest.mark.long
def test_semijoins_and_antijoins(shop: Project) -> None:
    """Rows are inserted and deleted with their partners, NULLs on either side among them; inlined, then staged."""
    texts = {
        "has": "select c.id, c.name from $.cust c where exists (select 1 from $.orders o where o.cust = c.id and o.price > 2)",
        "lacks": "select c.id, c.name from $.cust c where not exists (select 1 from $.orders o where o.cust = c.id)",
        "among": "select o.note from $.orders o where o.cust in (select id from $.cust where region = 'n')",
        "outside": "select o.id, o.note from $.orders o where o.cust not in (select id from $.cust where region = 'n')",
    }
    models = [shop.model(name, sql, KEYS) for name, sql in texts.items()]

    def check(mode: str) -> None:
        for model in models:
            assert refreshed(shop, model).mode in (mode, "noop") and shop.is_exact(model), model.name

    check("create")
    shop.sql(
        "insert into $.orders values (5, 3, 9.00, 'e')",
        "delete from $.orders where id in (1, 2)",
        "update $.cust set region = 'n', name = 'bo' where id = 2",
        "update $.orders set price = 3.00 where id = 3",
    )
    check("incremental")
    shop.sql(
        "insert into $.orders select id + 10, id % 4, 5.00, 'm' from range(1200)",
        "insert into $.cust values (4, 'dan', 'n')",
        "delete from $.cust where id = 1",
    )
    check("incremental")
    shop.sql("insert into $.cust values (null, 'nobody', 'n')")
    check("incremental")
    assert not shop.rows("select * from $.outside"), "nothing is known to be outside of what holds a NULL"


@pytest.mark.long
def test_over_another_view(shop: Project) -> None:
    """A model over a model with hidden columns reads the table behind it, whose IDs need no check."""
    below = shop.model("below", SPJ, KEYS)
    above = shop.model("above", "select name, count(*) as n, sum(twice) as total from $.below group by name")
    joined = shop.model("joined", "select b.id, b.name, o.note from $.below b join $.orders o on b.id = o.id", KEYS)
    for model in (below, above, joined):
        refreshed(shop, model)
    assert not any("check key" in s.label and "below" in s.label for s in shop.executed)
    shop.sql("update $.cust set name = 'ANN' where id = 1", "insert into $.orders values (5, 2, 8.00, 'n')")
    shop.new_run()
    for model in (below, above, joined):
        assert shop.refresh_in_run(model).mode == "incremental"
    assert all(shop.is_exact(model) for model in (below, above, joined))
    shop.refresh(below, full_refresh=True)
    assert shop.refresh(above).mode == "noop", "a rebuild of the upstream view that changes nothing"
    assert shop.is_exact(above)


@pytest.mark.long
def test_medium_diff_stays_in_the_engine(shop: Project) -> None:
    add_log(shop)
    spj, groups, bag = (
        shop.model("spj", SPJ, KEYS),
        shop.model("groups", GROUPS, KEYS),
        shop.model("bag", "select cust, amount from $.log as `l.o g` where amount > 0"),
    )
    for model in (spj, groups, bag):
        refreshed(shop, model)
    shop.sql(
        "insert overwrite table $.orders select id, id % 4, id % 7, 'x' from range(2, 1500)",
        "insert into $.log select id % 3, id % 5 from range(1200)",
        "update $.cust set name = 'z' where id = 2",
    )
    for model in (spj, groups, bag):
        outcome = refreshed(shop, model)
        assert outcome.mode == "incremental" and staged(shop) and "TABLE_CHANGES" not in written(shop)
        assert shop.spark.sql("show views").where("isTemporary").count() == 0, "staged rows are dropped"
    shop.sql("delete from $.orders where id > 50")
    shop.rewrite("log", "(1, 1)")
    for model in (spj, groups, bag):
        assert refreshed(shop, model).mode == "incremental"


HELL = [
    "it's",
    "\\",
    "\\'",
    "a\nb\r\tc",
    "${env:HOME}",
    "$${x}",
    "\0",
    "\0" + "12",
    "\x1a\x08\x7f",
    "é漢🎉",
    "--",
    "/* */",
    "%_",
    '"`',
    "\\u0041",
    "null",
    "",
    " ",
    "\u2028",
    "{{ x }}",
]


@pytest.mark.long
def test_values_survive_inlining(shop: Project) -> None:
    """Each type and each nasty string is unchanged after it was inlined as a literal."""
    columns = """id int, s string, d double, f float, n decimal(20,5), b boolean, t timestamp, tn timestamp_ntz, dt date,
                 bin binary, big bigint, tiny tinyint"""
    shop.table("odd", columns)
    model = shop.model("copy", "select * from $.odd", {"odd": ["id"]})
    text = shop.model("by_text", "select s, count(*) as n from $.odd group by s", {"odd": ["id"]})
    refreshed(shop, model)
    refreshed(shop, text)
    rows = [(i, s) for i, s in enumerate(HELL)]
    shop.spark.createDataFrame(rows, "id int, s string").createOrReplaceTempView("hell")
    shop.sql(
        """insert into $.odd select id, s, id / 3, cast(0.1 as float), -0.00001, id = 1,
                timestamp'2024-10-27 01:30:00.123456', timestamp_ntz'0001-01-01 00:00:00', date'1582-10-04',
                unhex('00ff27'), -9223372036854775808, -128 from hell""",
        "insert into $.odd values (100, null, double('nan'), float('-inf'), null, null, null, null, null, null, null, null)",
        "insert into $.odd (id, d, f) values (101, -0.0, float('-0.0'))",
    )
    for view in (model, text):
        assert refreshed(shop, view).mode == "incremental"
    assert not staged(shop)
    assert {row[0] for row in shop.rows("select s from $.copy where id < 50")} == set(HELL)
    shop.sql(
        "update $.odd set s = concat(s, '''x\\\\') where id % 2 = 0",
        "delete from $.odd where id = 5",
        "update $.odd set dt = date'9999-12-31', t = timestamp'1900-01-01 00:00:00' where id = 7",
    )
    for view in (model, text):
        assert refreshed(shop, view).mode == "incremental"


@pytest.mark.long
def test_columns_that_cannot_be_inlined(shop: Project) -> None:
    shop.table("tags", "id int, tags array<string>, at struct<x: int>", "(1, array('a', null), named_struct('x', 1))")
    model = shop.model("tagged", "select id, tags, at.x as x from $.tags", {"tags": ["id"]})
    plain = shop.model("ids", "select id from $.tags", {"tags": ["id"]})
    refreshed(shop, model)
    refreshed(shop, plain)
    shop.sql("insert into $.tags values (2, null, null)", "update $.tags set tags = array() where id = 1")
    assert refreshed(shop, model).mode == "incremental"
    assert len(staged(shop)) == 1
    assert counts(refreshed(shop, plain)) == (1, 0, 0)


@pytest.mark.parametrize(
    "strategy", [pytest.param("recompute", marks=pytest.mark.long), "id", pytest.param("incremental", marks=pytest.mark.long)]
)
def test_strategies(shop: Project, strategy: str) -> None:
    model = shop.model("groups", GROUPS, KEYS, strategy=strategy)
    refreshed(shop, model)
    shop.sql("update $.orders set price = 3 where id = 1", "insert into $.orders values (5, 1, 1.00, null)")
    outcome = refreshed(shop, model)
    assert outcome.mode == "incremental"
    assert strategy != "recompute" or outcome.strategy == "recompute"


@pytest.mark.long
def test_net_diffs_are_read_once_a_run(shop: Project) -> None:
    models = [shop.model(f"m{i}", SPJ, KEYS) for i in range(3)]
    for model in models:
        shop.refresh(model)
    shop.sql("update $.cust set name = 'q' where id = 1", "insert into $.orders values (9, 1, 2.00, 'x')")
    shop.new_run()
    reads = []
    for model in models:
        shop.refresh_in_run(model)
        own = [s.label for s in shop.executed if s.kind == "read" and s.label.startswith("changes of ")]
        assert own == [f"changes of {shop.schema}.{model.name}__idivm"], "the few rows that change, which are then written"
        reads.append(sum(s.kind == "read" for s in shop.executed) - len(own))
    assert reads == [3, 0, 0], "two net diffs and the look-up of the new key, for the first model only"
    assert all(shop.is_exact(model) for model in models)


@pytest.mark.long
def test_marks_move_when_the_range_grows_long(shop: Project) -> None:
    """Commits that change nothing in the view are read again, but not for ever."""
    model = shop.model("names", "select id, name from $.cust", KEYS)
    refreshed(shop, model)
    for i in range(22):
        shop.sql(f"alter table $.cust set tblproperties ('x' = '{i}')")
    assert refreshed(shop, model).statements == 1, "a commit without data moves the mark"
    outcome = refreshed(shop, model)
    assert outcome.mode == "noop" and shop.kinds == {"metadata": 2}
    shop.sql("update $.cust set name = 'later' where id = 3")
    assert counts(refreshed(shop, model)) == (0, 1, 0)

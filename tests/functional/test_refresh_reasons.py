"""Rebuilds and refusals on Spark + Delta: each reports its reason, and a failed refresh leaves the view unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.driver import refresh
from dbt_idivm.refresh.engine.invocation import Invocation
from dbt_idivm.refresh.protocol import Refresh
from tests.functional.project import Project
from tests.functional.test_refresh_modes import GROUPS, KEYS, SPJ, add_log, refreshed, shop

__all__ = ["shop"]  # a fixture


# a view without hidden columns: a plain table
PLAIN = "select region, count(*) as n from $.cust group by region"


def code(outcome: Any) -> str | None:
    return outcome.reason.partition(" ")[0] if outcome.reason else None


def failure(project: Project, model: Any, **changes: Any) -> IdivmError:
    with pytest.raises(IdivmError) as caught:
        project.refresh(model, **changes)
    return caught.value


@pytest.mark.deep
def test_full_refresh_flag_keeps_the_table(shop: Project) -> None:
    model = shop.model("groups", GROUPS, KEYS)
    refreshed(shop, model)
    outcome = refreshed(shop, model, full_refresh=True)
    assert (outcome.mode, outcome.strategy, code(outcome)) == ("full", "full", "IDIVM-401")
    assert any(s.sql.startswith("INSERT OVERWRITE") for s in shop.executed)
    assert refreshed(shop, model).mode == "noop"


def test_changed_definition(shop: Project) -> None:
    """Another SELECT: from hidden columns to none and back, and in the place of what somebody else built."""
    refreshed(shop, shop.model("m", SPJ, KEYS))
    outcome = refreshed(shop, shop.model("m", PLAIN, KEYS))
    assert (code(outcome), outcome.relations) == ("IDIVM-402", ((shop.schema, "m", "table"),))
    assert shop.existing("m__idivm") is None, "the table behind the former view is dropped"
    assert refreshed(shop, shop.model("m", PLAIN + " -- a comment", KEYS)).mode == "noop"
    assert [kind for _, _, kind in refreshed(shop, shop.model("m", SPJ, KEYS)).relations] == ["view", "table"]


@pytest.mark.deep
@pytest.mark.parametrize(
    "before",
    [
        "create view $.m as select 1 as x",
        *(
            pytest.param(f"create table $.m using {kind} as select 1 as x", marks=pytest.mark.long)
            for kind in ("parquet", "delta")
        ),
    ],
)
def test_in_the_place_of_somebody_elses(shop: Project, before: str) -> None:
    for sql in (PLAIN, SPJ):
        shop.sql(before)
        model = shop.model("m", sql, KEYS)
        assert code(refreshed(shop, model)) == "IDIVM-406"
        assert refreshed(shop, model).mode == "noop"
        shop.sql(f"drop {shop.existing('m')} $.m")


@pytest.mark.long
def test_foreign_write(shop: Project) -> None:
    model = shop.model("m", PLAIN, KEYS)
    refreshed(shop, model)
    shop.sql("update $.m set n = 99")
    outcome = refreshed(shop, model)
    assert code(outcome) == "IDIVM-405"
    shop.sql("optimize $.m", "alter table $.m set tblproperties ('a' = 'b')", "comment on table $.m is 'x'")
    assert refreshed(shop, model).mode == "noop", "commits that change no row are not foreign writes"
    shop.sql("restore table $.m to version as of 1")
    assert code(refreshed(shop, model)) == "IDIVM-405"


@pytest.mark.long
def test_replaced_input(shop: Project) -> None:
    model = shop.model("names", "select id, name from $.cust", KEYS)
    refreshed(shop, model)
    shop.sql(
        "create or replace table $.cust using delta tblproperties ('delta.enableChangeDataFeed' = 'true') "
        "as select id, upper(name) as name, region from $.cust version as of 0"
    )
    assert refreshed(shop, model).mode == "incremental", "versions continue, and the feed shows what differs"
    shop.sql("drop table $.cust")
    shop.table("cust", "id int, name string, region string", "(1, 'a', 'n')", "(5, 'e', 'n')")
    with pytest.raises(IdivmError, match="IDIVM-310"):
        shop.differences(model)
    assert code(refreshed(shop, model)) == "IDIVM-404"
    for _ in range(3):
        shop.sql("insert into $.cust select max(id) + 1, 'x', 'y' from $.cust")
    refreshed(shop, model)
    shop.sql("drop table $.cust")
    shop.table("cust", "id int, name string, region string", "(1, 'other', 'n')")
    for i in range(6):
        shop.sql(f"insert into $.cust values ({i + 2}, 'x', 'y')")
    with pytest.raises(IdivmError, match="IDIVM-310"):
        shop.differences(model)
    assert code(refreshed(shop, model)) == "IDIVM-404", "the new table has gone beyond the old version number"


@pytest.mark.long
def test_sql_that_only_spark_can_read(shop: Project) -> None:
    """Rebuilt on each run, because nobody knows what it reads; readers of it are maintained."""
    unreadable = "select id, name from $.cust |> set name = upper(name)"
    refused = failure(shop, shop.model("shouted", unreadable, KEYS, on_unsupported="error"))
    assert refused.codes == ("IDIVM-220",)
    model = shop.model("shouted", unreadable, KEYS)
    outcome = refreshed(shop, model)
    assert outcome.mode == "create" and code(outcome) == "IDIVM-906" and "does not parse" in outcome.reason
    reader = shop.model("reader", "select name, count(*) as n from $.shouted group by name")
    refreshed(shop, reader)
    for _ in range(2):
        shop.sql("insert into $.cust select max(id) + 1, 'new', 'n' from $.cust")
        assert (refreshed(shop, model).mode, refreshed(shop, reader).mode) == ("full", "incremental")
    assert refreshed(shop, shop.model("forced", unreadable, strategy="full")).mode == "create"
    broken = failure(shop, shop.model("shouted", unreadable.replace("name)", "nobody)"), KEYS))
    assert broken.codes == ("IDIVM-220",), "Spark refuses it as well"
    assert refreshed(shop, model).mode == "full"


@pytest.mark.long
def test_gap_in_the_feed(shop: Project) -> None:
    model = shop.model("names", "select id, name from $.cust", KEYS)
    refreshed(shop, model)
    shop.sql(
        "alter table $.cust set tblproperties ('delta.enableChangeDataFeed' = 'false')",
        "insert into $.cust values (7, 'unseen', 'n')",
    )
    refused = shop.model("names", "select id, name from $.cust", KEYS, on_unsupported="error")
    assert failure(shop, refused).codes == ("IDIVM-303",)
    outcome = refreshed(shop, model)
    assert code(outcome) == "IDIVM-408" and "has no change data feed" in outcome.reason
    assert refreshed(shop, model).mode == "noop", "the versions say that nothing is new, with a feed or without"
    shop.sql("insert into $.cust values (8, 'unseen', 'n')")
    outcome = refreshed(shop, model)
    assert code(outcome) == "IDIVM-408" and "has no change data feed" in outcome.reason
    shop.sql("alter table $.cust set tblproperties ('delta.enableChangeDataFeed' = 'true')")
    assert code(refreshed(shop, model)) == "IDIVM-426"
    shop.sql("insert into $.cust values (9, 'seen', 'n')")
    assert refreshed(shop, model).mode == "incremental"


def test_inputs_that_do_not_fit(shop: Project) -> None:
    shop.table("quiet", "id int", "(1)", feed=False)
    shop.sql("create table $.files using parquet as select 1 as id")
    assert failure(shop, shop.model("m", "select id from $.nowhere")).codes == ("IDIVM-301",)
    both = "select f.id from $.files f join $.quiet q on f.id = q.id"
    error = failure(shop, shop.model("m", both, on_unsupported="error"))
    assert set(error.codes) == {"IDIVM-302", "IDIVM-303"}, "all that is wrong at once"
    assert shop.existing("m") is None
    model = shop.model("read_whole", both)
    outcome = refreshed(shop, model)
    assert outcome.mode == "create" and code(outcome) == "IDIVM-408" and "IDIVM-302" in outcome.reason
    shop.sql("insert into $.files values (2)", "insert into $.quiet values (2)")
    assert (refreshed(shop, model).rows_inserted, refreshed(shop, model).mode) == (2, "full"), "files have no versions"
    clock = "select id from $.quiet where id < unix_timestamp()"
    assert failure(shop, shop.model("clock", clock, volatile="error")).codes == ("IDIVM-206",)
    for table in ("files", "quiet"):
        model = shop.model(f"full_{table}", f"select id from $.{table}", strategy="full")
        assert refreshed(shop, model).mode == "create"
    assert shop.refresh(model).mode == "noop"
    assert code(refreshed(shop, shop.model("full_files", "select id from $.files", strategy="full"))) == "IDIVM-407"


def test_key_that_is_not_unique_at_build(shop: Project) -> None:
    add_log(shop)
    model = shop.model("m", "select cust, amount from $.log", {"log": ["cust"]})
    error = failure(shop, model)
    assert error.codes == ("IDIVM-305",) and "cust = 1" in str(error)
    assert shop.existing("m") is None


@pytest.mark.parametrize("rows", [1, pytest.param(1500, marks=pytest.mark.long)])
def test_key_broken_by_a_later_change(shop: Project, rows: int) -> None:
    """An insert that meets a stored key; then two new rows of one key. The view stays, and the error names its state."""
    model = shop.model("names", "select id, name from $.cust", KEYS)
    refreshed(shop, model)
    before = shop.rows("select * from $.names")
    shop.sql(f"insert into $.cust select id + 100, 'many', 'n' from range({rows})", "insert into $.cust values (1, 'twin', 'n')")
    error = failure(shop, model)
    assert error.codes == ("IDIVM-306",) and "id = 1" in str(error)
    assert shop.rows("select * from $.names") == before
    shop.sql("delete from $.cust where name = 'twin'", "insert into $.cust values (50, 'x', 'n'), (50, 'x', 'n')")
    assert failure(shop, model).codes == ("IDIVM-306",)
    shop.sql("delete from $.cust where id = 50")
    assert refreshed(shop, model).mode == "incremental"


@pytest.mark.deep
def test_verify_none_does_not_look(shop: Project) -> None:
    model = shop.model("names", "select id, name from $.cust", KEYS, verify="none")
    refreshed(shop, model)
    shop.sql("insert into $.cust values (8, 'h', 'n')")
    refreshed(shop, model)
    assert not any("new keys" in s.label for s in shop.executed)


@pytest.mark.deep
def test_renamed_column(shop: Project) -> None:
    shop.sql("alter table $.cust set tblproperties ('delta.columnMapping.mode' = 'name')")
    model = shop.model("names", "select id, name from $.cust", KEYS)
    refreshed(shop, model)
    before = shop.rows("select * from $.names")
    shop.sql("alter table $.cust rename column name to nam")
    error = failure(shop, model)
    assert error.codes == ("IDIVM-308",) and "nam" in str(error)
    assert shop.rows("select * from $.names") == before


@pytest.mark.long
def test_new_column_under_select_star(shop: Project) -> None:
    model = shop.model("copy", "select * from $.cust", KEYS)
    refreshed(shop, model)
    shop.sql("alter table $.cust add column age int", "insert into $.cust values (4, 'd', 'n', 40)")
    assert code(refreshed(shop, model)) == "IDIVM-412"
    assert refreshed(shop, model).mode == "noop"


@pytest.mark.deep
def test_unsupported(shop: Project) -> None:
    """Rebuilt with the reason, and not at all while nothing is new; or an error, if that is wanted."""
    sql = "select id, row_number() over (order by 1) as n from $.cust"
    model = shop.model("ranked", sql, KEYS, ties="rebuild")
    created = refreshed(shop, model)
    assert (created.mode, code(created)) == ("create", "IDIVM-408")
    assert refreshed(shop, model).mode == "noop"
    shop.sql("insert into $.cust values (0, 'z', 'n')")
    outcome = refreshed(shop, model)
    assert (outcome.mode, code(outcome)) == ("full", "IDIVM-408") and "IDIVM-203" in outcome.reason
    strict = shop.model("strict", sql, KEYS, on_unsupported="error", ties="rebuild")
    assert failure(shop, strict).codes == ("IDIVM-203",)


@pytest.mark.deep
def test_volatile(shop: Project) -> None:
    sql = "select id, datediff(current_date(), date '2020-01-01') + id as days from $.cust"
    assert failure(shop, shop.model("m", sql, KEYS, volatile="error")).codes == ("IDIVM-206",)
    model = shop.model("m", sql, KEYS, volatile="full")
    assert [shop.refresh(model).mode for _ in range(2)] == ["create", "full"]


@pytest.mark.long
def test_texts_read_as_the_current_time(shop: Project) -> None:
    """Rebuilt each time: the same inputs would give another view tomorrow. That Spark does read them so is tried, too."""
    (seen,) = shop.rows(
        "select cast('now' as timestamp) >= current_date() as a, date '2020-01-01' < 'today' as b, "
        "cast(word as timestamp) >= current_date() as c, to_timestamp(word, 'HH:mm') < '2000-01-01' as d "
        "from values ('10:15') as t(word)"
    )
    assert tuple(seen) == (True, True, True, True)
    for number, (condition, why) in enumerate(
        (("'2020-01-01' < date 'today'", "IDIVM-230"), ("cast(concat(id, ':00') as timestamp) > '2020-01-01'", "IDIVM-236"))
    ):
        model = shop.model(f"m{number}", f"select id, name from $.cust where {condition}", KEYS)
        outcomes = [shop.refresh(model) for _ in range(2)]
        assert [each.mode for each in outcomes] == ["create", "full"]
        assert why in (outcomes[1].reason or ""), outcomes[1].reason


@pytest.mark.deep
def test_texts_that_are_cast_to_timestamps(shop: Project) -> None:
    """Maintained as long as none of them holds a time alone; then rebuilt by the user's own text."""
    shop.table("log", "k int, at string", "(1, '2024-01-01 10:00:00')", "(2, '2024-02-30')", "(3, null)")
    model = shop.model("m", "select k, try_cast(at as timestamp) as at from $.log", {"log": ["k"]}, strategy="incremental")
    assert refreshed(shop, model).mode == "create"
    shop.sql("insert into $.log values (4, ' 2024-03-31T02:30:00+02:00 ')", "update $.log set at = '2025' where k = 2")
    assert refreshed(shop, model).mode == "incremental"
    shop.sql("insert into $.log values (5, '10:15')")
    for _ in range(2):  # the second time no input has changed, but the day may have
        outcome = refreshed(shop, model)
        assert outcome.mode == "full" and "IDIVM-236" in (outcome.reason or ""), outcome.reason


@pytest.mark.long
def test_plain_views_are_read_through(shop: Project) -> None:
    shop.sql("create view $.rich as select id, cust, price from $.orders where price > 2")
    model = shop.model("m", "select r.id, c.name from $.rich r join $.cust c on r.cust = c.id", KEYS)
    refreshed(shop, model)
    assert refreshed(shop, model).mode == "noop"
    shop.sql("insert into $.orders values (9, 1, 50.00, 'x')")
    assert refreshed(shop, model).mode == "incremental"
    shop.sql("create or replace view $.rich as select id, cust, price from $.orders where price > 6")
    assert refreshed(shop, model).mode == "full"


@pytest.mark.deep
def test_partial_inputs_are_not_trusted(shop: Project) -> None:
    model = shop.model("names", "select id, name from $.cust", KEYS)
    part = shop.model("names", "select id, name from (select * from $.cust limit 0)", KEYS)
    assert shop.refresh(part, restricted=True).mode == "create"
    assert code(refreshed(shop, model)) == "IDIVM-410"
    assert refreshed(shop, model).mode == "noop"


@pytest.mark.deep
def test_settings_are_part_of_the_state(shop: Project) -> None:
    model = shop.model("names", "select id, name from $.cust", KEYS)
    refreshed(shop, model)
    assert code(shop.refresh(model, session={"ansi": "true", "time_zone": "Europe/Berlin"})) == "IDIVM-409"


def test_a_statement_that_is_sent_twice_counts_once(shop: Project) -> None:
    """Some connections repeat a statement after an error of the network: sums must not grow twice."""
    model = shop.model("groups", GROUPS, KEYS)
    refreshed(shop, model)
    shop.sql("insert into $.orders values (5, 1, 1.25, 'x')")
    shop.new_run()
    request = shop.request(model)
    steps = Refresh(refresh(request, Invocation()))
    while not steps.done:
        assert steps.statement is not None
        if steps.statement.label.startswith("merge"):
            shop.run(steps.statement)
        steps.answer(shop.run(steps.statement))
    assert steps.outcome is not None and steps.outcome.rows_updated == 1
    assert shop.is_exact(model)


@pytest.mark.long
def test_a_second_run_of_the_model_fails(shop: Project) -> None:
    """Two runs that started from the same state: the later one must not add its changes again."""
    model = shop.model("groups", GROUPS, KEYS)
    refreshed(shop, model)
    shop.sql("insert into $.orders values (5, 1, 1.25, 'x')")
    slow = Refresh(refresh(shop.request(model), Invocation()))
    while slow.statement is not None and not slow.statement.label.startswith("merge"):
        reply = shop.run(slow.statement)
        if slow.statement.label.startswith("set "):
            shop.run(slow.statement)
        slow.answer(reply)
    settings = {key: shop.spark.conf.get(key) for key in SETTINGS}
    assert shop.refresh(model).mode == "incremental"
    for key, value in settings.items():
        shop.spark.conf.set(key, value)
    with pytest.raises(IdivmError) as caught:
        while slow.statement is not None:
            slow.answer(shop.run(slow.statement))
    for key in SETTINGS:
        shop.spark.conf.unset(key)
    assert caught.value.codes == ("IDIVM-903",)
    assert shop.is_exact(model)


SETTINGS = (
    "spark.databricks.delta.commitInfo.userMetadata",
    "spark.databricks.delta.write.txnAppId",
    "spark.databricks.delta.write.txnVersion",
)


def test_an_engine_error_leaves_settings_and_view_alone(shop: Project) -> None:
    model = shop.model("m", "select id, cast(note as int) as n from $.orders where id = 4 or id > 100", KEYS)
    shop.sql("update $.orders set note = '4' where id = 4")
    refreshed(shop, model)
    before = shop.rows("select * from $.m")
    shop.sql("insert into $.orders values (101, 1, 1.00, 'not a number')")
    error = failure(shop, model)
    assert error.codes == ("IDIVM-902",) and f"{shop.schema}.orders at version" in str(error)
    assert shop.rows("select * from $.m") == before
    assert all(shop.spark.conf.get(key, None) is None for key in SETTINGS)
    shop.sql("delete from $.orders where id = 101")
    assert refreshed(shop, model).mode == "noop"

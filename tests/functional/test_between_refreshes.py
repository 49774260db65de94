"""As tests/unit/test_in_between.py, on Spark + Delta: what others do is never taken for what a refresh has done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.commits import USER_METADATA
from dbt_idivm.refresh.protocol import Reply, Statement
from tests.functional.project import Project, project_in

pytestmark = pytest.mark.deep

KEYS = {"t": ["id"]}


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "in_between") as found:
        found.table("t", "id int, name string", "(1, 'a')", "(2, 'b')")
        yield found


def before(shop: Project, label: str, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch, times: int = 1) -> None:
    """Others act before the statement with that label, in a session of their own; once, or so many times."""
    run, others = shop.run, [shop.spark.newSession() for _ in range(times)]

    def acting(statement: Statement) -> Reply:
        if statement.label == label and others:
            with shop.in_session(others.pop()):
                act()
        return run(statement)

    monkeypatch.setattr(shop, "run", acting)


def test_rows_that_come_before_a_feed_is_switched_on(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    view = shop.model("v", "select id, name from $.t", KEYS, {"tblproperties": {"delta.columnMapping.mode": "name"}})
    before(shop, f"switch on the feed of {shop.schema}.v", lambda: shop.sql("insert into $.v values (9, 'others')"), monkeypatch)
    assert shop.refresh(view).mode == "create"
    assert (shop.refresh(view).reason or "").startswith("IDIVM-405") and shop.is_exact(view)
    assert shop.refresh(view).mode == "noop"


def test_rows_of_others_under_an_id_of_an_upstream_view(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go with the next refresh of that view, and take nothing else of the one above with them."""
    view, above = shop.model("v", "select id, name from $.t", KEYS), shop.model("w", "select id, name from $.v")
    for each in (view, above):
        shop.refresh(each)
    shop.sql("update $.t set name = 'c' where id = 2")
    with monkeypatch.context() as patch:
        before(shop, f"set {USER_METADATA}", lambda: shop.sql("insert into $.v values (1, 'others')"), patch)
        assert shop.refresh(view).mode == "incremental"
    with pytest.raises(IdivmError, match="IDIVM-306"):
        shop.refresh(above)
    for each in (view, above):
        shop.refresh(each)
        assert shop.is_exact(each)


def test_another_relation_with_the_name_of_an_upstream_view(shop: Project) -> None:
    view, above = shop.model("v", "select name from $.t", KEYS), shop.model("w", "select name from $.v")
    for each in (view, above):
        shop.refresh(each)
    shop.sql("create or replace view $.v as select upper(name) as name from $.t")
    assert shop.refresh(above).mode == "full" and shop.is_exact(above)
    assert shop.refresh(above).mode == "noop"


@pytest.mark.parametrize(
    ("output", "query"), [("view", "select upper(name) as name from $.v__idivm"), ("diffs", "select 'x' as name")]
)
def test_a_view_that_others_give_another_query(shop: Project, output: str, query: str) -> None:
    view = shop.model("v", "-- a name\nselect name\nfrom $.t where name <> '${é}'", KEYS, output=output)
    shop.refresh(view)
    assert shop.refresh(view).mode == "noop" and not any(each.label.startswith("create view") for each in shop.executed)
    shop.sql(f"alter view $.v as {query}")
    assert shop.refresh(view).mode == "noop" and shop.is_exact(view)
    assert shop.refresh(view).mode == "noop" and not any(each.label.startswith("create view") for each in shop.executed)


@pytest.mark.parametrize("query", ["select upper(name) as name from $.v__idivm", "select name as x, 1 as y from $.v__idivm"])
def test_an_upstream_view_that_others_give_another_query(shop: Project, query: str) -> None:
    """The model above has the rows that the view shows, before its model has made it again and after."""
    view, above = shop.model("v", "select name from $.t", KEYS), shop.model("w", "select * from $.v")
    for each in (view, above):
        shop.refresh(each)
    shop.sql(f"alter view $.v as {query}")
    for _ in range(2):
        outcome = shop.refresh(above)
        assert outcome.mode == "full" and "IDIVM-314" in (outcome.reason or "") and shop.is_exact(above)
    shop.sql("update $.t set name = 'c' where id = 2")
    assert shop.refresh(view).mode == "incremental"
    assert shop.refresh(above).mode == "full" and shop.is_exact(above)
    assert shop.refresh(above).mode == "noop"


def test_an_upstream_view_that_is_fixed(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rebuild breaks off before it shows the new rows: the model above has the former ones until it does."""
    view, above = shop.model("v", "select name from $.t", KEYS), shop.model("w", "select * from $.v")
    for each in (view, above):
        shop.refresh(each)
    edited = shop.model("v", "select upper(name) as name, 1 as one from $.t where id > 0", KEYS)

    def dies() -> None:
        if any(each.label.startswith("build ") for each in shop.executed):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        before(shop, f"create view {shop.schema}.v", dies, patch, times=2)
        with pytest.raises(KeyboardInterrupt):
            shop.refresh(edited)
    assert shop.refresh(above).mode == "full" and shop.is_exact(above)
    for each in (edited, above):
        shop.refresh(each)
        assert shop.is_exact(each) and shop.refresh(each).mode == "noop"


def test_an_upstream_view_without_its_caches_is_the_same(shop: Project) -> None:
    sql = "with c as (select name, count(*) as n from $.t group by name) select t.name, c.n from $.t t join c on c.name = t.name"
    view, above = shop.model("v", sql, KEYS, caches="all"), shop.model("w", "select name from $.v where n > 0")
    for each in (view, above):
        shop.refresh(each)
    shop.sql("insert into $.t values (3, 'a')")
    for each in (shop.model("v", sql, KEYS, caches="none"), above):
        assert shop.refresh(each).mode == "incremental" and shop.is_exact(each)
        assert shop.differences(each) == [] and shop.refresh(each).mode == "noop"


def test_a_column_that_others_have_moved(shop: Project) -> None:
    """What an edit adds to the stored rows has its values in the columns of their names."""
    shop.table("s", "id int, a string, b string", "(1, 'a1', 'b1')", "(2, 'a2', 'b2')")
    sql = "select id, a, b from $.s where id > {}"
    shop.refresh(shop.model("v", sql.format(1), {"s": ["id"]}))
    shop.sql("alter table $.v alter column b after id")
    edited = shop.model("v", sql.format(0), {"s": ["id"]})
    assert shop.refresh(edited).mode == "migrated"
    assert shop.rows("select id, a, b from $.v") == shop.rows(edited.sql)


@pytest.mark.parametrize(
    ("former", "edited"),
    [("select name from $.t", "select name as other from $.t"), ("select id, name from $.t", "select name from $.t")],
)
def test_what_an_edited_upstream_model_showed_is_not_there_any_more(shop: Project, former: str, edited: str) -> None:
    """Another name of the same column, or another table."""
    view, above = shop.model("v", former, KEYS), shop.model("w", "select * from $.v")
    for each in (view, above):
        shop.refresh(each)
    shop.refresh(shop.model("v", edited, KEYS))
    with pytest.raises(IdivmError, match="IDIVM-310"):
        shop.differences(above)
    assert shop.refresh(above).mode == "full" and shop.is_exact(above) and shop.differences(above) == []

"""Plain views upstream mean what they mean under the settings that they were created with, whatever the session has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbt_idivm.errors import IdivmError
from tests.functional.project import Project, project_in

ANSI, ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
KEYS = {"events": ["id"]}
DAYS = "create or replace view $.days as select id, cast(at as date) as day from $.events"
NUMBERS = "create or replace view $.numbers as select id, cast(code as int) as n from $.events"


class Elsewhere:
    """Another session, whose settings are its own."""

    def __init__(self, project: Project, **settings: str) -> None:
        self.project, self.session = project, project.spark.newSession()
        self.session.sql(f"use {project.schema}")
        for key, value in {ANSI: "true", ZONE: "UTC", **settings}.items():
            self.session.conf.set({"ansi": ANSI, "zone": ZONE}.get(key, key), value)

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.session.sql(self.project.within(statement))


@pytest.fixture
def shop(spark: Any) -> Iterator[Project]:
    with project_in(spark, "view_settings") as project:
        project.spark.conf.set(ANSI, "true")
        project.spark.conf.set(ZONE, "UTC")
        project.sql(
            "create table $.events (id int, at timestamp, code string) using delta "
            "tblproperties ('delta.enableChangeDataFeed' = 'true')",
            "insert into $.events values (1, timestamp'2026-01-01 02:00:00Z', '7')",
        )
        yield project


def exact(project: Project, name: str, sql: str) -> tuple[str, str]:
    """Mode and first code of a refresh that leaves the view as its query is."""
    model = project.model(name, sql, KEYS)
    outcome = project.refresh(model)
    assert project.is_exact(model) and project.differences(model) == [], (name, outcome.message)
    return outcome.mode, next((word for word in ("311", "312") if f"IDIVM-{word}" in (outcome.reason or "")), "")


@pytest.mark.long
def test_a_view_of_another_time_zone_or_without_ansi_is_read_as_it_is(shop: Project) -> None:
    Elsewhere(shop, zone="America/New_York").sql(DAYS)
    Elsewhere(shop, ansi="false").sql(NUMBERS)
    shop.sql("create view $.above as select day, id from $.days")
    queries = {"d": "select id, day from $.days", "n": "select id, n from $.numbers", "a": "select id, day from $.above"}
    modes = {name: exact(shop, name, sql) for name, sql in queries.items()}
    assert modes == dict.fromkeys(queries, ("create", "311"))
    assert str(shop.spark.table("d").collect()[0][1]) == "2025-12-31", "the day in New York"
    shop.sql("insert into $.events values (2, timestamp'2026-02-01 02:00:00Z', 'x')")
    assert {name: exact(shop, name, sql) for name, sql in queries.items()} == dict.fromkeys(queries, ("full", "311"))
    assert exact(shop, "d", queries["d"])[0] == "full", "what has no versions never counts as unchanged"
    with pytest.raises(IdivmError, match="IDIVM-311"):
        shop.refresh(shop.model("e", queries["d"], KEYS, on_unsupported="error"))


@pytest.mark.long
def test_views_of_the_same_settings_are_followed(shop: Project) -> None:
    Elsewhere(shop).sql(DAYS)
    Elsewhere(shop, **{"spark.sql.shuffle.partitions": "3"}).sql("create view $.above as select day, id from $.days where id > 0")
    query = "select id, day from $.above"
    assert exact(shop, "d", query) == ("create", "")
    shop.sql("insert into $.events values (2, timestamp'2026-02-01 02:00:00Z', 'x')")
    assert exact(shop, "d", query) == ("incremental", "")
    assert exact(shop, "d", query) == ("noop", "")
    Elsewhere(shop, zone="America/New_York").sql(DAYS)  # the same text
    assert exact(shop, "d", query)[0] == "full"
    Elsewhere(shop).sql(DAYS)
    assert exact(shop, "d", query)[0] == "full"
    assert exact(shop, "d", query) == ("noop", "")
    Elsewhere(shop, **{"spark.sql.legacy.timeParserPolicy": "LEGACY"}).sql(DAYS)
    assert exact(shop, "d", query)[0] == "full"


@pytest.mark.long
def test_a_view_with_a_default_collation_is_read_as_it_is(shop: Project) -> None:
    """A cast in its text compares as the view does, and no column that it shows has another type for that."""
    shop.sql(
        "insert into $.events values (2, null, 'a'), (3, null, 'A')",
        "create view $.codes default collation UTF8_LCASE as select id, code from $.events where cast(code as string) = 'A'",
    )
    query = "select id, code from $.codes"
    assert exact(shop, "c", query) == ("create", "311") and shop.spark.table("c").count() == 2
    shop.sql("insert into $.events values (4, null, 'a')")
    assert exact(shop, "c", query) == ("full", "311") and shop.spark.table("c").count() == 3


@pytest.mark.long
def test_a_view_that_calls_a_function_of_its_own_schema_is_read_as_it_is(shop: Project) -> None:
    """In the schema of the model the name leads to another one, or to none."""
    shop.sql(
        "create schema if not exists $_other",
        "create function $_other.f(x int) returns int return x + 1",
        "create function $_other.g(x int) returns int return x + 2",
        "create function $.f(x int) returns int return x * 100",
        "use $_other",
        "create view $.called as select id, f(id) as x from $.events",
        "create view $.unknown as select id, g(id) as x from $.events",
        "use $",
    )
    try:
        for name, query in {"c": "select id, x from $.called", "u": "select id, x from $.unknown"}.items():
            for mode in ("create", "full"):
                assert exact(shop, name, query) == (mode, "")
            assert exact(shop, name, query)[0] == "full", "what has no versions never counts as unchanged"
    finally:
        shop.sql("drop schema $_other cascade")

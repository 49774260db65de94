"""The broker's warehouse of benchmarks/brokerage/: loaded, and maintained through two days of changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.brokerage.changes import SCHEMA
from benchmarks.brokerage.play import MAINTAINED, REBUILT, SCHEMAS, Done, Play
from benchmarks.brokerage.world import World
from benchmarks.engine import Engine
from dbt.adapters.idivm.credentials import IdivmCredentials

pytestmark = pytest.mark.long

BATCHES = 2


@pytest.fixture(scope="module")
def played(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Done]]:
    folder = tmp_path_factory.mktemp("brokerage")
    credentials = IdivmCredentials(database=None, schema="bench", catalog="in-memory")
    credentials.resolve_paths(folder)
    world = World(0, 1, dt.date.today() - dt.timedelta(BATCHES))
    rounds = Play(world, "incremental", True, 1, print).rounds(Engine(credentials, folder), BATCHES)
    yield [each for done in rounds for each in done]
    for schema in (*SCHEMAS.values(), SCHEMA):
        spark.sql(f"drop schema if exists {schema} cascade")


def test_all_refreshes_are_incremental(played: list[Done]) -> None:
    """Each model has been compared with its query, too."""
    maintained = [done for done in played if done.target == MAINTAINED and done.batch]
    rebuilt = [
        (done.batch, each.node.name, each.adapter_response["reason"])
        for done in maintained
        for each in done.run.results
        if each.adapter_response["mode"] not in ("incremental", "noop")
    ]
    assert len(maintained) == BATCHES and rebuilt == []


def test_the_rebuilt_tables_have_as_many_rows(spark: Any, played: list[Done]) -> None:
    """Of the models whose number of rows does not depend on the order of tied rows."""
    assert [done.batch for done in played if done.target == REBUILT] == [0, 1, 2]
    for name in ("stg_trades", "customers", "trade_history", "fct_cash_balances", "security_months"):
        counts = {spark.table(f"{schema}.{name}").count() for schema in SCHEMAS.values()}
        assert len(counts) == 1, name

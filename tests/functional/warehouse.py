"""A stage on a SQL warehouse of Databricks, whose states are in a ledger. The warehouse is a stand-in, which refuses SET, CACHE
TABLE and temporary views."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.catalog.relations import OWNER
from dbt_idivm.refresh.catalog.state import encode
from dbt_idivm.refresh.catalog.stored_view import read_state, read_stored_view
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.engine import Engine, sql_warehouse
from dbt_idivm.refresh.engine.ledger import NAME
from tests.databricks_endpoint import WAREHOUSE, Endpoint
from tests.engines import warehouse_of
from tests.functional.shapes import SOURCES, Shape, Stage


class Recorded(Stage):
    """A stage whose states are in a ledger."""

    @property
    def ledger(self) -> str:
        return f"{self.project.schema}_ledger.{NAME}"

    def vector(self, table: str) -> dict[str, int]:
        found = self.project.drive(read_state(Client(self.project.engine_for(self.model)), table))
        versions = found.state.versions if found is not None and found.state is not None else {}
        sources = {f"{self.project.schema}.{name}" for name in SOURCES}
        return {name: version for name, version in versions.items() if name in sources}

    def is_sound(self) -> None:
        """Readers see the old rows, the new ones or nothing; and what is recorded of rows is true."""
        seen = self.sight()
        assert seen.rows in (None, self.old.rows, self.new.rows)
        if seen.rows is None:
            return
        request = self.project.request(self.model)
        stored = self.project.drive(read_stored_view(Client(self.project.engine_for(request)), request))
        if stored.reason is None and stored.state is not None and stored.shown:
            assert self.project.differences(self.model) == []


Staging: TypeAlias = Callable[[Shape], Recorded]


@pytest.fixture
def stage(spark: Any, request: pytest.FixtureRequest) -> Iterator[Staging]:
    name = re.sub(r"\W", "_", request.node.name.removeprefix("test_"))[-60:]
    schema = f"crash_wh_{name}"
    warehouse = warehouse_of(spark)
    spark.sql(f"create schema if not exists {schema}_ledger")

    def engine_for(model: ModelRequest) -> Engine:
        return sql_warehouse(f"{schema}_ledger.{NAME}", model.relation, {OWNER: encode(model.owner)}, "UTC", depth=2)

    def made(shape: Shape) -> Recorded:
        play = Recorded.made(lambda: Endpoint(spark.newSession(), WAREHOUSE), schema, warehouse, shape)
        play.project.engine = engine_for
        assert isinstance(play, Recorded)
        return play

    yield made
    for each in (schema, f"{schema}_ledger"):
        spark.sql(f"drop schema if exists {each} cascade")

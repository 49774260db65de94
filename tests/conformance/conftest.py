"""dbt's own fixtures for adapter tests, on this adapter's profile: embedded, or over a server with `--server`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dbt.tests.fixtures.project import *  # noqa: F403

from dbt_idivm.refresh.engine import invocation
from tests.conformance.maintained import ONE_ROW, Maintained, maintain


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Callable[[str], Any]]:
    """The part of the profile that says where, and a function that runs a statement there and returns its rows."""
    kind = request.config.getoption("--server")
    if kind:
        server = request.getfixturevalue(f"{kind}_server")
        return server.profile, server.execute
    spark = request.getfixturevalue("spark")
    return {"catalog": "in-memory", "driver_memory": "2g"}, lambda sql: spark.sql(sql).collect()


@pytest.fixture(scope="session")
def strategy(pytestconfig: pytest.Config) -> Iterator[str]:
    """Of the maintained models. Small as their tables are, `auto` would rebuild them all; so it is for `--any-way` alone."""
    seed = pytestconfig.getoption("--any-way")
    if seed is None:
        yield "id"
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(invocation, "Invocation", partial(invocation.Invocation, choose=Random(seed).choice))
        yield "auto"


@pytest.fixture(scope="session")
def one_row(engine: Any) -> None:
    """What a maintained model reads when dbt's own reads nothing."""
    engine[1](f"create schema {ONE_ROW.partition('.')[0]}")
    engine[1](f"create table {ONE_ROW} using delta tblproperties ('delta.enableChangeDataFeed' = 'true') as select 1 as n")


@pytest.fixture(scope="class")
def spark_settings() -> dict[str, str]:
    """Overridden by classes whose own SQL needs another dialect of Spark."""
    return {}


@pytest.fixture(scope="class")
def dbt_profile_target(engine: Any, spark_settings: dict[str, str]) -> dict[str, Any]:
    return {"type": "idivm", "threads": 4, **engine[0], "server_side_parameters": spark_settings}


@pytest.fixture(scope="class")
def logs_dir(tmp_path_factory: pytest.TempPathFactory, prefix: str) -> Iterator[str]:
    """dbt's own is `logs/` beside the tests."""
    folder = tmp_path_factory.mktemp("logs") / prefix
    os.environ["DBT_LOG_PATH"] = str(folder)
    yield str(folder)
    del os.environ["DBT_LOG_PATH"]


@pytest.fixture(scope="class")
def project(request: pytest.FixtureRequest, project_setup: Any, project_files: None, strategy: str) -> Any:
    """dbt's, and the models of a `Maintained` class are maintained ones."""
    if request.cls is not None and issubclass(request.cls, Maintained):
        request.getfixturevalue("one_row")
        maintain(Path(project_setup.project_root), request.cls.materializations, request.cls.inputs, strategy)
    return project_setup

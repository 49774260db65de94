"""A profile of `type: idivm`: what is enough, what is fixed, and what the other methods of dbt-spark still get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.idivm.credentials import ANSI, READING, TIME_ZONE, IdivmCredentials, thrift_parameters


def credentials(**given: Any) -> IdivmCredentials:
    return IdivmCredentials.from_dict({"schema": "main", **given})


def test_schema_is_enough() -> None:
    profile = credentials()
    IdivmCredentials.validate({"schema": "main", "database": None})
    assert profile.type == "idivm" and profile.is_embedded
    assert profile.query_retries == 0


def test_ansi_cannot_be_switched_off() -> None:
    profile = credentials(server_side_parameters={ANSI: "false", "spark.sql.shuffle.partitions": "9"})
    assert profile.server_side_parameters[ANSI] == "true"
    assert profile.server_side_parameters["spark.sql.shuffle.partitions"] == "9"


def test_names_and_quotes_are_read_as_the_planner_reads_them() -> None:
    given = {"spark.sql.caseSensitive": "true", "spark.sql.ansi.doubleQuotedIdentifiers": "true"}
    assert READING.keys() == given.keys()
    assert credentials(server_side_parameters=given).server_side_parameters.items() >= READING.items()


def test_time_zone_is_set_once() -> None:
    profile = credentials(time_zone="Europe/Madrid", server_side_parameters={TIME_ZONE: "UTC"})
    assert profile.server_side_parameters[TIME_ZONE] == "Europe/Madrid"


def test_retries_stay_zero() -> None:
    assert credentials(query_retries=3).query_retries == 0


def test_session_means_embedded() -> None:
    assert credentials(method="session", host="NA").is_embedded


def test_folders_lie_in_the_project() -> None:
    profile = credentials(warehouse_dir="data")
    profile.resolve_paths("/project")
    assert (profile.state_dir, profile.warehouse_dir) == ("/project/.idivm", "/project/data")
    elsewhere = credentials(state_dir="/var/state")
    elsewhere.resolve_paths(Path("/project"))
    assert elsewhere.state_dir == "/var/state"


def test_memory_must_be_a_size() -> None:
    with pytest.raises(DbtRuntimeError, match="driver_memory: 'lots' is not a size"):
        credentials(driver_memory="lots")


def test_thrift_server_gets_prefixed_parameters() -> None:
    assert thrift_parameters({"a": "1", "set:hiveconf:b": "2"}) == {"set:hiveconf:a": "1", "set:hiveconf:b": "2"}

"""A profile of `type: idivm`: what is enough, what is fixed, and what the other methods of dbt-spark still get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark import SparkConf

from dbt.adapters.idivm import extras
from dbt.adapters.idivm.credentials import ANSI, FIXED, TIME_ZONE, IdivmCredentials, thrift_parameters
from dbt.adapters.idivm.embedded import _shown


def credentials(**given: Any) -> IdivmCredentials:
    return IdivmCredentials.from_dict({"schema": "main", **given})


def test_schema_is_enough() -> None:
    profile = credentials()
    IdivmCredentials.validate({"schema": "main", "database": None})
    assert profile.type == "idivm" and profile.is_embedded
    assert profile.query_retries == 0 and profile.poll_interval == 1
    assert credentials(poll_interval=9).poll_interval == 9


def test_ansi_and_what_text_means_cannot_be_changed() -> None:
    other = {key: "true" if value == "false" else "false" for key, value in FIXED.items()}
    profile = credentials(server_side_parameters={**other, "spark.sql.shuffle.partitions": "9"})
    assert {key: profile.server_side_parameters[key] for key in FIXED} == FIXED
    assert profile.server_side_parameters["spark.sql.shuffle.partitions"] == "9"
    assert {
        ANSI,
        "spark.sql.variable.substitute",
        "spark.sql.caseSensitive",
        "spark.sql.decimalOperations.allowPrecisionLoss",
        "spark.sql.ansi.doubleQuotedIdentifiers",
    } <= FIXED.keys()
    remote = credentials(method="thrift", host="h", server_side_parameters=other)
    assert {f"set:hiveconf:{key}": value for key, value in FIXED.items()}.items() <= remote.server_side_parameters.items()


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"method": "thrift", "host": "h", "user": "SECRET", "password": "SECRET", "auth": "LDAP"},
        {"method": "http", "host": "h", "token": "SECRET", "cluster": "c"},
        {"method": "http", "host": "h", "connection_string_suffix": "PWD=SECRET"},
    ],
)
def test_what_dbt_shows_holds_no_secret(given: dict[str, str]) -> None:
    """`dbt debug` prints these pairs."""
    hidden = {"spark.hadoop.fs.s3a.secret.key": "SECRET"}
    profile = credentials(**given, server_side_parameters=hidden)
    assert "SECRET" not in repr(list(profile.connection_info(with_aliases=True)))
    assert "SECRET" not in repr(profile) and "SECRET" not in str(profile)


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


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({"host": "spark.example"}, ("spark.example", 15002, None, None, False, {})),
        ({"host": "spark.example:7/", "token": "t"}, ("spark.example", 7, "t", None, False, {})),
        ({"host": "spark.example", "port": 443, "use_ssl": True}, ("spark.example", 443, None, None, True, {})),
        (
            {"host": "sc://spark.example/;token=a%3Db;user_id=me;use_ssl=true;x-proxy=1", "connect_parameters": {"x-more": "2"}},
            ("spark.example", 15002, "a=b", "me", True, {"x-proxy": "1", "x-more": "2"}),
        ),
        ({"host": "sc://[::1]:99"}, ("::1", 99, None, None, False, {})),
    ],
)
def test_where_a_spark_connect_server_is(settings: dict[str, Any], expected: tuple[Any, ...]) -> None:
    found = credentials(method="connect", **settings)
    assert (found.host, found.port, found.token, found.user, found.use_ssl, found.connect_parameters) == expected
    assert found.server_side_parameters["spark.sql.ansi.enabled"] == "true"
    assert not any(each in repr(found) for each in ("a=b", "x-proxy"))


@pytest.mark.parametrize(
    "host", ["http://spark.example", "sc://spark.example/path", "sc://spark.example/;token", "sc://h/;s3cr3t"]
)
def test_what_is_no_address_of_a_server(host: str) -> None:
    with pytest.raises(DbtRuntimeError, match="is not an address such as name, or sc://name:15002") as error:
        credentials(method="connect", host=host)
    assert "s3cr3t" not in str(error.value)


@pytest.mark.parametrize(
    "method, missing",
    [
        *(("session", "pyspark"), ("http", "thrift"), ("thrift", "thrift_sasl")),
        *(("connect", module) for module in ("pyspark", "grpc", "google.rpc", "pandas")),
    ],
)
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, method: str, missing: str) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda module: None if module == missing else module)
    with pytest.raises(DbtRuntimeError, match=rf"method: {method} needs the package {missing}\. Install with: pip install '"):
        credentials(method=method, host="localhost")


def test_embedded_spark_is_not_looked_for_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda module: None)
    assert credentials().is_embedded


def test_the_command_line_of_the_jvm_holds_no_secret() -> None:
    secret = ("spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.s3a.access.key", "x.Password")
    conf = SparkConf(loadDefaults=False).setAll([*((key, "SECRET") for key in secret), ("y", "1")])
    assert _shown(conf).getAll() == [("y", "1")]

"""Small translations: values to literals, exceptions to coded errors, descriptions to statements."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dbt.adapters.idivm.connections import IdivmConnectionManager
from dbt.adapters.idivm.engine_errors import engine_error, engine_message
from dbt.adapters.idivm.impl import default_to_delta
from dbt.adapters.idivm.session import in_zone, literal


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (None, "null"),
        (True, "true"),
        (12345678901234567890, "12345678901234567890"),
        (Decimal("1.10"), "1.10"),
        (dt.date(2020, 1, 31), "'2020-01-31'"),
        (dt.datetime(2020, 1, 31, 1, 2, 3, 4), "'2020-01-31 01:02:03.000004'"),
        ("O'Brien\\", "'O\\'Brien\\\\'"),
    ],
)
def test_literal(value: Any, sql: str) -> None:
    assert literal(value) == sql


def test_in_zone_is_the_same_instant() -> None:
    local = dt.datetime.fromtimestamp(1593604800)  # 2020-07-01 12:00 UTC, shown as this machine does
    assert in_zone(local, ZoneInfo("America/New_York")) == dt.datetime(2020, 7, 1, 8)
    assert in_zone(None, ZoneInfo("UTC")) is None


@pytest.mark.parametrize(
    ("message", "error_class"),
    [
        ("[DELTA_MISSING_CHANGE_DATA] Error getting change data", "DELTA_MISSING_CHANGE_DATA"),
        ("java.lang.RuntimeException: [DIVIDE_BY_ZERO.SUB] no", "DIVIDE_BY_ZERO.SUB"),
        ("the array [A] is empty", ""),
        ("connection refused", ""),
    ],
)
def test_error_class_from_a_message(message: str, error_class: str) -> None:
    assert engine_error(Exception(message)).error_class == error_class


def test_error_class_from_the_cause() -> None:
    class Spark(Exception):
        def getCondition(self) -> str:
            return "A_CONDITION"

    try:
        try:
            raise Spark("said by Spark")
        except Spark as cause:
            raise RuntimeError("said by dbt") from cause
    except RuntimeError as error:
        told = engine_error(error)
    assert (told.error_class, told.message) == ("A_CONDITION", "said by Spark")


def test_stack_trace_is_left_out() -> None:
    text = "org.apache.spark.SparkException: [X_Y_Z] no\n\tat org.apache.spark.A.b(A.scala:1)\n\tat c"
    assert engine_message(Exception(text)) == "[X_Y_Z] no"


def test_defaults_leave_the_user_s_choice() -> None:
    chosen: dict[str, Any] = {"tblproperties": {"delta.enableChangeDataFeed": "false", "a": "b"}}
    default_to_delta(chosen)
    assert chosen["file_format"] == "delta"
    assert chosen["tblproperties"] == {"delta.enableChangeDataFeed": "false", "a": "b"}
    parquet = {"file_format": "parquet"}
    default_to_delta(parquet)
    assert parquet == {"file_format": "parquet"}


@pytest.mark.parametrize(
    ("embedded", "thrift", "name"),
    [("decimal(4,2)", "DECIMAL_TYPE", "DECIMAL"), ("string", "STRING_TYPE", "STRING"), ("array<int>", None, "ARRAY<INT>"),
     ("struct<a:decimal(4, 2)>", None, "STRUCT<A:DECIMAL>")],
)
def test_a_contract_compares_types_without_size(embedded: str, thrift: str | None, name: str) -> None:
    assert IdivmConnectionManager.data_type_code_to_name(embedded) == name
    assert thrift is None or IdivmConnectionManager.data_type_code_to_name(thrift) == name

"""Small translations: values to literals, exceptions to coded errors, descriptions to statements."""

from __future__ import annotations

import datetime as dt
import multiprocessing
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.idivm import project_access, shell
from dbt.adapters.idivm.connections import IdivmConnectionManager
from dbt.adapters.idivm.engine_errors import engine_error, engine_message
from dbt.adapters.idivm.shared import default_to_delta
from dbt.adapters.idivm.spark_handle import literal
from dbt.adapters.idivm.zones import in_zone
from dbt_idivm.refresh.protocol import EngineError


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
        found = engine_error(error)
    assert (found.error_class, found.message) == ("A_CONDITION", "said by Spark")


TRACE = "\n\tat org.apache.spark.A$.b(A.scala:1)\n\tat c"


@pytest.mark.parametrize("before", ["", "org.apache.spark.SparkException: ", "Error running query: [X_Y.Z] a.b.CException: ",
                                    "a.b.HiveSQLException: Error running query: [X_Y.Z] a.b.CException: \n"])
def test_stack_trace_and_java_classes_are_left_out(before: str) -> None:
    """Embedded, and over Thrift where they are longer."""
    assert engine_message(Exception(f"{before}[X_Y.Z] look\n  at it{TRACE}")) == "[X_Y.Z] look\n  at it"
    assert engine_message(DbtDatabaseError(f"{before}[X_Y.Z] no{TRACE}")) == "[X_Y.Z] no"


class Java:
    """An exception of the JVM, as py4j gives it."""

    def __init__(self, message: str, condition: str | None = None, cause: Java | None = None) -> None:
        self.message, self.condition, self.cause = message, condition, cause

    def toString(self) -> str:
        return f"org.apache.spark.SparkException: {self.message}"

    def getMessage(self) -> str:
        return self.message

    def getCause(self) -> Java | None:
        return self.cause

    def getCondition(self) -> str:
        if self.condition is None:
            raise AttributeError("getCondition")  # py4j's own error there
        return self.condition


FAILED = "[TASK_WRITE_FAILED] Task failed while writing rows to file:/x. SQLSTATE: 58030"
DIVIDED = "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"


def test_the_cause_of_a_failed_task_is_read_from_the_jvm() -> None:
    class Py4JJavaError(Exception):
        java_exception = Java(FAILED, "TASK_WRITE_FAILED", Java("wrapped", None, Java(DIVIDED, "DIVIDE_BY_ZERO", Java("end"))))

    Py4JJavaError.__module__ = "py4j.protocol"
    found = engine_error(Py4JJavaError())
    assert (found.error_class, found.message) == ("DIVIDE_BY_ZERO", f"{DIVIDED}\n{FAILED}")
    Py4JJavaError.java_exception = Java(FAILED, "TASK_WRITE_FAILED")
    assert engine_error(Py4JJavaError()) == EngineError("TASK_WRITE_FAILED", FAILED)


def test_the_cause_of_a_failed_task_is_read_from_a_server_s_text() -> None:
    text = (f"a.b.HiveSQLException: Error running query: [TASK_WRITE_FAILED] org.apache.spark.SparkException: {FAILED}{TRACE}\n"
            f"Caused by: java.lang.RuntimeException: no class{TRACE}\n"
            f"Caused by: org.apache.spark.SparkArithmeticException: {DIVIDED}\n== SQL (line 2) ==\na / b\n{TRACE}\n\t... 3 more")
    found = engine_error(DbtDatabaseError(text))
    assert found.error_class == "DIVIDE_BY_ZERO"
    assert found.message == f"{DIVIDED}\n== SQL (line 2) ==\na / b\n{FAILED}"
    plain = f"org.apache.spark.SparkException: [CAST_OVERFLOW] look{TRACE}\nCaused by: a.b.CException: {DIVIDED}{TRACE}"
    assert engine_error(DbtDatabaseError(plain)) == EngineError("CAST_OVERFLOW", "[CAST_OVERFLOW] look"), "it says why"


def test_the_query_comment_is_left_out() -> None:
    text = '[PARSE_SYNTAX_ERROR] Syntax error at or near \'x\'. SQLSTATE: 42601 (line 3, pos 1)\n\n== SQL ==\n' \
           '/* {"app": "dbt", "node_id": "model.a.b"} */\nselect\n x x x\n-^^^'
    assert "app" not in engine_message(Exception(text)) and engine_message(Exception(text)).endswith("select\n x x x\n-^^^")


def test_dbt_shows_errors_of_a_server_without_stack_trace() -> None:
    """dbt-spark makes a runtime error of a database error, indented and with its heading."""
    manager = IdivmConnectionManager(None, multiprocessing.get_context("spawn"))
    with pytest.raises(DbtDatabaseError) as found, manager.exception_handler("select"):
        raise DbtDatabaseError(f"a.b.CException: Error running query: [X_Y.Z] a.b.CException: [X_Y.Z] no{TRACE}")
    assert found.value.msg == "[X_Y.Z] no"
    with pytest.raises(DbtRuntimeError, match="the profile is wrong"), manager.exception_handler("select"):
        raise DbtRuntimeError("the profile is wrong")


def test_the_shell_shows_errors_of_a_server_without_stack_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise DbtDatabaseError(f"a.b.CException: Error running query: [X_Y.Z] a.b.CException: [X_Y.Z] no{TRACE}")

    monkeypatch.setattr(shell, "credentials_of", lambda *_: None)
    monkeypatch.setattr(shell, "open_handle", refused)
    found = CliRunner().invoke(shell.sql_command, ["select 1"])
    assert (found.exit_code, found.output) == (1, "Error: [X_Y.Z] no\n")


def test_the_shell_reads_a_profile_with_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDIVM_TEST_SCHEMA", "from_outside")
    (tmp_path / "dbt_project.yml").write_text("{name: shop, version: '1', profile: shop}")
    schema = "\"{{ env_var('IDIVM_TEST_SCHEMA') }}\""
    (tmp_path / "profiles.yml").write_text(f"shop: {{target: dev, outputs: {{dev: {{type: idivm, schema: {schema}}}}}}}")
    assert project_access.credentials_of(tmp_path, None, None).schema == "from_outside"


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

"""Small translations: values to literals, exceptions to coded errors, descriptions to statements."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import re
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.idivm import project_access, shell
from dbt.adapters.idivm.connect import _check_statements
from dbt.adapters.idivm.connections import IdivmConnectionManager
from dbt.adapters.idivm.engine_errors import engine_error, engine_message
from dbt.adapters.idivm.results import columns_and_rows
from dbt.adapters.idivm.shared import default_to_delta
from dbt.adapters.idivm.spark_handle import literal
from dbt.adapters.idivm.zones import in_zone
from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.engine.steps import EngineFailure
from dbt_idivm.refresh.protocol import EngineError, Statement


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


@pytest.mark.parametrize(
    "before",
    [
        "",
        "org.apache.spark.SparkException: ",
        "Error running query: [X_Y.Z] a.b.CException: ",
        "a.b.HiveSQLException: Error running query: [X_Y.Z] a.b.CException: \n",
    ],
)
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
    text = (
        f"a.b.HiveSQLException: Error running query: [TASK_WRITE_FAILED] org.apache.spark.SparkException: {FAILED}{TRACE}\n"
        f"Caused by: java.lang.RuntimeException: no class{TRACE}\n"
        f"Caused by: org.apache.spark.SparkArithmeticException: {DIVIDED}\n== SQL (line 2) ==\na / b\n{TRACE}\n\t... 3 more"
    )
    found = engine_error(DbtDatabaseError(text))
    assert found.error_class == "DIVIDE_BY_ZERO"
    assert found.message == f"{DIVIDED}\n== SQL (line 2) ==\na / b\n{FAILED}"
    plain = f"org.apache.spark.SparkException: [CAST_OVERFLOW] look{TRACE}\nCaused by: a.b.CException: {DIVIDED}{TRACE}"
    assert engine_error(DbtDatabaseError(plain)) == EngineError("CAST_OVERFLOW", "[CAST_OVERFLOW] look"), "it says why"


TASK = "Error running query: org.apache.spark.SparkException: Job aborted: Lost task 0.0 in stage 1.0 (TID 1) (host): "
OLDER = {  # what Spark 3.5 with Delta 3.3 says over Thrift → the class of newer ones
    f"{TASK}java.lang.RuntimeException: boom{TRACE}": "USER_RAISED_EXCEPTION",
    f"{TASK}a.SparkException: [TASK_WRITE_FAILED] no{TRACE}\nCaused by: java.lang.RuntimeException: boom{TRACE}": "USER_RAISED_EXCEPTION",
    f"{TASK}a.SparkException: [TASK_WRITE_FAILED] no{TRACE}\nCaused by: java.io.IOException: disk{TRACE}": "TASK_WRITE_FAILED",
    "Error running query: [DIVIDE_BY_ZERO] a.b.SparkArithmeticException: [DIVIDE_BY_ZERO] Division.\n== SQL ==\n1/0": "DIVIDE_BY_ZERO",
    "Error running query: [_LEGACY_ERROR_TEMP_1013] a.b.AnalysisException: a.v is a view. It expects a table..; line 1 pos 0": "EXPECT_TABLE_NOT_VIEW",
    "Error running query: [_LEGACY_ERROR_TEMP_1113] a.b.AnalysisException: Table t does not support truncate in batch mode.;": "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "Error running query: a.delta.VersionNotFoundException: Cannot time travel to version 9.": "DELTA_VERSION_NOT_FOUND",
    "Error running query: java.lang.IllegalArgumentException: Provided Start version(9) for reading change data is invalid.": "DELTA_CDC_START_VERSION_AFTER_LATEST",
    "Error running query: [_LEGACY_ERROR_TEMP_2096] a.b.SparkUnsupportedOperationException: MERGE is not supported.": "",
}


@pytest.mark.parametrize(("text", "error_class"), OLDER.items(), ids=range(len(OLDER)))
def test_errors_of_older_servers(text: str, error_class: str) -> None:
    found = engine_error(DbtDatabaseError(text))
    assert found.error_class == error_class
    is_of_data = EngineFailure(Statement("", "read", ""), found).is_of_data
    assert is_of_data == (error_class in ("DIVIDE_BY_ZERO", "USER_RAISED_EXCEPTION"))
    assert ("boom" in found.message.partition("\n")[0]) == ("boom" in text), "what was raised is said first"


def test_a_state_is_of_a_newer_server() -> None:
    text = f"{TASK}java.lang.RuntimeException: no space{TRACE}\nCaused by: a.b.CException: no class SQLSTATE: 58030{TRACE}"
    assert engine_error(DbtDatabaseError(text)).error_class == ""


@pytest.mark.parametrize(("column", "is_empty"), [("Result", True), ("id", False)])
def test_a_server_that_describes_what_it_does_not_send(monkeypatch: pytest.MonkeyPatch, column: str, is_empty: bool) -> None:
    """The Thrift Server of Spark 3.5, after CREATE TABLE."""

    def fetchall() -> list[Any]:
        raise TypeError("'NoneType' object is not iterable")

    cursor: Any = SimpleNamespace(description=[(column, "STRING_TYPE")], fetchall=fetchall)
    manager: Any = IdivmConnectionManager({}, multiprocessing.get_context("spawn"))
    monkeypatch.setattr(manager, "add_query", lambda sql, auto_begin: (None, cursor))
    monkeypatch.setattr(manager, "_add_query_comment", lambda sql: sql)
    monkeypatch.setattr(manager, "exception_handler", lambda sql: nullcontext())
    if is_empty:
        assert manager.run("create table a", fetch=True) == ((), [])
        assert len(manager.execute("create table a", fetch=True)[1]) == 0
        assert columns_and_rows(cursor) == columns_and_rows(cursor, 1) == ((), [])
        return
    for run in (manager.run, manager.execute):
        with pytest.raises(TypeError):
            run("select id", fetch=True)
    with pytest.raises(TypeError):
        columns_and_rows(cursor)


def test_the_shell_runs_what_has_no_result_on_a_server_that_describes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cursor:
        description: ClassVar = [("Result", "STRING_TYPE")]

        def execute(self, sql: str) -> None:
            self.sql = sql

        def fetchall(self) -> list[Any]:
            if self.sql == "create table a":
                raise TypeError("'NoneType' object is not iterable")
            return [[1], [2], [3]]

    monkeypatch.setattr(shell, "credentials_of", lambda *_: None)
    monkeypatch.setattr(shell, "open_handle", lambda _: SimpleNamespace(cursor=Cursor))
    found = CliRunner().invoke(shell.sql_command, ["create table a; select 1 as Result", "--limit", "2"])
    assert found.exit_code == 0, found.output
    assert found.output.startswith("done\n") and "first 2 rows" in found.output


@pytest.mark.parametrize(
    ("version", "message", "code"),
    [
        ("3.5.7", "[PARSE_SYNTAX_ERROR] Syntax error at or near end of input.(line 1, pos 0)", "IDIVM-507"),
        ("3.5.7", "[ANOTHER_ERROR] no", None),
        ("4.0.1", "not asked", ""),
    ],
)
def test_a_server_of_spark_connect_that_is_too_old(version: str, message: str, code: str | None) -> None:
    def sql(text: str) -> None:
        raise RuntimeError(message)

    server: Any = SimpleNamespace(version=version, sql=sql)
    if code == "":
        return _check_statements(server, "here")
    with pytest.raises(RuntimeError if code is None else IdivmError, match=re.escape(code or message)):
        _check_statements(server, "here")


def test_the_query_comment_is_left_out() -> None:
    text = (
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'. SQLSTATE: 42601 (line 3, pos 1)\n\n== SQL ==\n"
        '/* {"app": "dbt", "node_id": "model.a.b"} */\nselect\n x x x\n-^^^'
    )
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
    [
        ("decimal(4,2)", "DECIMAL_TYPE", "DECIMAL"),
        ("string", "STRING_TYPE", "STRING"),
        ("array<int>", None, "ARRAY<INT>"),
        ("struct<a:decimal(4, 2)>", None, "STRUCT<A:DECIMAL>"),
    ],
)
def test_a_contract_compares_types_without_size(embedded: str, thrift: str | None, name: str) -> None:
    assert IdivmConnectionManager.data_type_code_to_name(embedded) == name
    assert thrift is None or IdivmConnectionManager.data_type_code_to_name(thrift) == name

"""The embedded Spark that everything is measured on, under a user's settings; catalog and tables are temporary."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import new_session
from dbt.adapters.idivm.engine_errors import engine_error
from dbt.adapters.idivm.session import EmbeddedConnection, EmbeddedCursor
from dbt_idivm.refresh.protocol import Reply, Rows, Statement

# Parquet's vectored reads run in threads whose bytes Spark does not count; on local files they are no faster. The store of
# jobs and stages must not drop any that is still to be counted: skipped stages are dropped first.
COUNTED = {
    "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",
    "spark.ui.retainedJobs": "100000",
    "spark.ui.retainedStages": "100000",
    "spark.ui.retainedTasks": "10",
}


@dataclass(frozen=True)
class Engine:
    """A running Spark and the folder of its tables."""

    credentials: IdivmCredentials
    folder: Path

    def session(self) -> Session:
        """A session as dbt's connection has one. They share catalog and JVM, neither settings nor temporary views."""
        return Session(new_session(self.credentials))


@contextmanager
def engine(memory: str, within: Path | None = None) -> Iterator[Engine]:
    """Start Spark with a heap of `memory` ("3g"); its tables are in a temporary folder, under `within` if given."""
    if within is not None:
        Path(within).mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="idivm-bench-", dir=within))
    credentials = IdivmCredentials(
        database=None, schema="bench", catalog="in-memory", driver_memory=memory, server_side_parameters=COUNTED
    )
    credentials.resolve_paths(folder)
    try:
        yield Engine(credentials, folder)
    finally:
        try:
            _stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _stop() -> None:
    """Stop Spark, before its folder is removed. It may have ended already, by an error that is reported."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        with suppress(Exception):
            SparkContext._active_spark_context.stop()


@dataclass(frozen=True)
class Session:
    """One session, and how statements are run in it: as the adapter does."""

    spark: Any

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = EmbeddedCursor(self.spark)
        cursor.execute(sql)
        return cursor.fetchall()

    def run(self, *statements: str) -> None:
        """Run commands, which are done when Spark returns."""
        for sql in statements:
            EmbeddedCursor(self.spark).execute(sql)

    def columns(self, sql: str) -> list[str]:
        return list(self.spark.sql(sql).columns)

    def reply(self, statement: Statement) -> Reply:
        """The answer to a statement of a refresh."""
        cursor = EmbeddedCursor(self.spark)
        try:
            found = EmbeddedConnection(self.spark).without_sql(statement)
            if found is not None:
                return found
            cursor.execute(statement.sql)
            if not statement.fetch:
                cursor.finish()
                return Rows()
            names = tuple(column[0] for column in cursor.description)
            return Rows(names, tuple(cursor.fetchall()) if names else ())
        except Exception as error:
            return engine_error(error)

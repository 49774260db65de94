"""Refreshes over a connection that reads what tables' logs say of files, as the embedded one does, or asks by SQL alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dbt.adapters.idivm.session import EmbeddedConnection
from dbt_idivm.refresh.engine.engine import EMBEDDED, SPARK_DELTA
from dbt_idivm.refresh.protocol import Reply, Statement
from tests.functional.engine import Project


class LogReading(Project):
    """Statements with a text are run as SQL."""

    def run(self, statement: Statement) -> Reply:
        if statement.actions is None:
            return super().run(statement)
        self.executed.append(statement)
        known = EmbeddedConnection(self.spark).without_sql(statement)
        assert known is not None
        return known


@contextmanager
def project_in(spark: Any, schema: str, *, reads_logs: bool) -> Iterator[Project]:
    """A project in a session of its own, of which nothing is left afterwards."""
    engine = EMBEDDED if reads_logs else SPARK_DELTA
    project = (LogReading if reads_logs else Project)(spark.newSession(), schema, engine_for=lambda model: engine)
    try:
        yield project
    finally:
        project.sql("drop schema $ cascade", "use default")

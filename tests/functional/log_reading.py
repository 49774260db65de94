"""Refreshes over a connection that reads what tables' logs say of files, as the embedded one does."""

from __future__ import annotations

from dbt.adapters.idivm.session import EmbeddedConnection
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

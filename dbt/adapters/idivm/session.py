"""A database connection, as dbt knows it, over one session of the embedded Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.idivm.progress import Tasks
from dbt.adapters.idivm.spark_handle import SparkConnection, SparkCursor
from dbt.adapters.idivm.table_log import ACTIONS, DESCRIPTION, HISTORY, Row, description, file_actions, history
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.relation_name import name_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = AdapterLogger("Idivm")

# The plans that are complete when `sql()` returns: commands and DML.
DONE = ("CommandResult", "LocalRelation", "OneRowRelation")


class EmbeddedCursor(SparkCursor):
    """`execute` runs commands at once. A query runs when it is fetched or finished."""

    def _is_done(self, frame: DataFrame) -> bool:
        return frame._jdf.queryExecution().commandExecuted().getClass().getSimpleName() in DONE


def without_sql(handle: object, statement: Statement) -> Rows | None:
    """The reply to a statement of a refresh, if the connection can answer it without SQL; None if it has to be run.

    A connection to the Spark that `idivm up` keeps running cannot read logs. It replies with no
    rows to requests for which there is no SQL.
    """
    if isinstance(handle, EmbeddedConnection):
        return handle.without_sql(statement)
    return None if statement.actions is None else Rows()


class EmbeddedConnection(SparkConnection):
    """A connection over a session of the Spark in this process, which can do more than run SQL."""

    cursor_type = EmbeddedCursor
    session: SparkSession

    def __init__(self, session: SparkSession) -> None:
        super().__init__(session)
        self._group = f"idivm-{uuid4()}"

    def cursor(self) -> SparkCursor:  # type: ignore[override]
        # a property of the thread that runs the statement
        self.session.sparkContext.setLocalProperty("spark.jobGroup.id", self._group)
        return super().cursor()

    def tasks(self) -> Tasks | None:
        tracker = self.session.sparkContext.statusTracker()
        jobs = set(tracker.getJobIdsForGroup(self._group)).intersection(tracker.getActiveJobsIds())
        found = [
            info
            for job in map(tracker.getJobInfo, jobs)
            if job is not None
            for info in map(tracker.getStageInfo, job.stageIds)
            if info is not None
        ]
        return Tasks(sum(each.numCompletedTasks for each in found), sum(each.numTasks for each in found))

    def configure(self, key: str, value: str | None) -> None:
        """Do the same as SET, or as RESET if the value is None."""
        initial = self.session.sparkContext._conf.get(key) if value is None else value
        if initial is None:
            self.session.conf.unset(key)
        else:
            self.session.conf.set(key, initial)

    def without_sql(self, statement: Statement) -> Rows | None:
        """The reply to a statement of a refresh, if this connection can answer it without SQL; None if it has to be run."""
        if statement.setting is not None:
            self.configure(*statement.setting)
            return Rows()
        if statement.history is not None:
            return self.history(*statement.history)
        if statement.actions is not None:
            return self.file_actions(*statement.actions) or Rows()
        return None if statement.described is None else self.describe(statement.described)

    def history(self, table: str, limit: int) -> Rows | None:
        """The newest commits of a table, as DESCRIBE HISTORY shows them; None if that has to be run."""
        return self._from_log(table, HISTORY, lambda schema, name: history(self.session, schema, name, limit))

    def file_actions(self, table: str, first: int, last: int) -> Rows | None:
        """The file actions of these commits of a table; None if the log cannot be read."""
        return self._from_log(table, ACTIONS, lambda schema, name: file_actions(self.session, schema, name, first, last))

    def describe(self, table: str) -> Rows | None:
        """The columns and properties of a table, as DESCRIBE TABLE EXTENDED shows them; None if that has to be run."""
        return self._from_log(table, DESCRIPTION, lambda schema, name: description(self.session, schema, name))

    def _from_log(self, table: str, columns: tuple[str, ...], read: Callable[[str, str], list[Row] | None]) -> Rows | None:
        parts = name_parts(table)
        if len(parts) != 2 or "/" in parts[1]:
            return None
        try:
            rows = read(*parts)
        except Exception as error:
            # SQL is run instead: it has the better error if there is a problem with the table, and else an answer.
            logger.debug(f"the log of {table} is not read directly: {error}")
            return None
        return None if rows is None else Rows(columns, tuple(rows))

    def cancel(self) -> None:
        self.session.sparkContext.cancelAllJobs()

"""Running the planner's look-ups, which are generators of statements, on a connection outside of a dbt command."""

from __future__ import annotations

from typing import Any, TypeVar

from dbt.adapters.idivm.engine_errors import engine_error
from dbt.adapters.idivm.project_access import execute
from dbt.adapters.idivm.results import columns_and_rows
from dbt.adapters.idivm.session import without_sql
from dbt_idivm.refresh.engine.steps import Steps, driven
from dbt_idivm.refresh.protocol import Reply, Rows, Statement

T = TypeVar("T")


def drive(handle: Any, steps: Steps[T]) -> T:
    """Run all statements of `steps` on the connection and return their result. Raises the errors that `steps` raise."""
    return driven(steps, lambda statement: _reply(handle, statement))


def _reply(handle: Any, statement: Statement) -> Reply:
    try:
        known = without_sql(handle, statement)
        if known is not None:
            return known
        columns, rows = columns_and_rows(execute(handle, statement.sql))
        return Rows(columns, tuple(rows))
    except Exception as error:
        return engine_error(error)

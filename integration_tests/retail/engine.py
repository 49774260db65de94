"""The engine that a target of the profile names, for the statements that load and change the sources."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def credentials_of(project: Path, target: str | None) -> Any:
    """What dbt will connect with."""
    from dbt.adapters.idivm.project_access import credentials_of

    return credentials_of(project, project, target)


def remove_earlier(project: Path, credentials: Any) -> None:
    """Remove what an earlier run left in the project's folder; refused while another process works there."""
    from dbt.adapters.idivm.lock import hold_lock
    from dbt.adapters.idivm.state_folder import make_state_folder
    from dbt.adapters.idivm.warm import stop_server

    state = Path(credentials.state_dir)
    stop_server(state, force=False)
    make_state_folder(state)
    lock = hold_lock(state)
    try:
        for folder in (state, project / "target", project / "logs"):
            if folder.parent == project:
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


class Engine:
    """A connection. The embedded Spark is started by it, and serves dbt in this process, too."""

    def __init__(self, credentials: Any) -> None:
        from dbt.adapters.contracts.connection import Connection, ConnectionState

        from dbt.adapters.idivm.connections import IdivmConnectionManager

        opened = Connection(type="idivm", name="load", state=ConnectionState.INIT, handle=None, credentials=credentials)
        self._handle = IdivmConnectionManager.open(opened).handle

    def execute(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self._handle.cursor().execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self._handle.cursor()
        cursor.execute(query)
        return [tuple(row) for row in cursor.fetchall()]

"""The embedded Spark that tests run on; the Thrift Server is in `thrift_server.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import start

# Compiling and adapting plans costs a quarter of the time when tables have ten rows.
TINY_DATA = {"spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false"}


def embedded_spark(folder: Path) -> Any:
    """The session that dbt finds active when it connects. The catalog is in memory and goes with the process."""
    credentials = IdivmCredentials(database=None, schema="main", catalog="in-memory", driver_memory="2g",
                                   server_side_parameters=TINY_DATA)
    credentials.resolve_paths(folder)
    return start(credentials)

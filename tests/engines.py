"""The embedded Spark that tests run on; the Thrift Server is in `thrift_server.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import start

# When tables have ten rows, most of the time goes into compilers: Spark's adapting of plans and its Java code for whole stages,
# and the JVM's second compiler, which alone takes more than planning does.
TINY_DATA = {"spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false",
             "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"}


def embedded_spark(folder: Path) -> Any:
    """The session that dbt finds active when it connects. The catalog is in memory and goes with the process."""
    credentials = IdivmCredentials(database=None, schema="main", catalog="in-memory", driver_memory="2g",
                                   server_side_parameters=TINY_DATA)
    credentials.resolve_paths(folder)
    return start(credentials)

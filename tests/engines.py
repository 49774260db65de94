"""The embedded Spark that tests run on; the Thrift Server is in `thrift_server.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.embedded import start

# When tables have ten rows, most of the time goes into compilers: Spark's adapting of plans and its Java code for stages and
# expressions, and the JVM's second compiler, which alone takes more than planning does.
TINY_DATA = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m",
}


def embedded_spark(folder: Path) -> Any:
    """The session that dbt finds active when it connects. The catalog is in memory and ends with the process."""
    credentials = IdivmCredentials(
        database=None, schema="main", catalog="in-memory", driver_memory="2g", server_side_parameters=TINY_DATA
    )
    credentials.resolve_paths(folder)
    return start(credentials)


def warehouse_of(spark: Any) -> Path:
    """The folder of its tables."""
    return Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))


def relations(spark: Any, schema: str) -> dict[str, str]:
    """The relations of the schema: name → table or view."""
    found = {kind: [row[1] for row in spark.sql(f"show {kind}s in {schema}").collect() if row[0]] for kind in ("table", "view")}
    return dict.fromkeys(found["table"], "table") | dict.fromkeys(found["view"], "view")

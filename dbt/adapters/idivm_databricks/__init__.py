"""The dbt adapter type `idivm_databricks`: dbt-databricks' adapter with the idivm materialization. It needs dbt-databricks."""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.idivm_databricks.connections import IdivmDatabricksConnectionManager
from dbt.adapters.idivm_databricks.credentials import IdivmDatabricksCredentials
from dbt.adapters.idivm_databricks.impl import IdivmDatabricksAdapter
from dbt.include import idivm_databricks

__all__ = ["IdivmDatabricksAdapter", "IdivmDatabricksConnectionManager", "IdivmDatabricksCredentials", "Plugin"]

Plugin = AdapterPlugin(
    adapter=IdivmDatabricksAdapter,  # type: ignore[arg-type]  # dbt's protocol names no concrete adapter fits
    credentials=IdivmDatabricksCredentials,
    include_path=idivm_databricks.PACKAGE_PATH,
    dependencies=["databricks"],
)

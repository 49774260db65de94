"""The dbt adapter type `idivm`: dbt-spark's adapter with an embedded Spark + Delta and the idivm materialization."""

from dbt.adapters.base.plugin import AdapterPlugin

from dbt.adapters.idivm.connections import IdivmConnectionManager
from dbt.adapters.idivm.credentials import IdivmCredentials
from dbt.adapters.idivm.impl import IdivmAdapter
from dbt.include import idivm

__all__ = ["IdivmAdapter", "IdivmConnectionManager", "IdivmCredentials", "Plugin"]

Plugin = AdapterPlugin(
    adapter=IdivmAdapter,  # type: ignore[arg-type]  # dbt's protocol names no concrete adapter fits
    credentials=IdivmCredentials,
    include_path=idivm.PACKAGE_PATH,
    dependencies=["spark"],
)

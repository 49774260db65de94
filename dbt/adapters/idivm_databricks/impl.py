"""The adapter: dbt-databricks', with the methods that the idivm materialization calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.impl import AdapterTrackingRelationInfo
from dbt.adapters.databricks.impl import DatabricksAdapter, DatabricksConfig

from dbt.adapters.idivm.__version__ import version
from dbt.adapters.idivm.settings import MergedSettings
from dbt.adapters.idivm.shared import IdivmMixin
from dbt.adapters.idivm_databricks.connections import IdivmDatabricksConnectionManager
from dbt.adapters.idivm_databricks.session import engine_for

if TYPE_CHECKING:
    from dbt_idivm.refresh.engine.engine import Engine


@dataclass
class IdivmDatabricksConfig(MergedSettings, DatabricksConfig):
    """dbt-databricks' settings plus ours."""


class IdivmDatabricksAdapter(IdivmMixin, DatabricksAdapter):
    ConnectionManager = IdivmDatabricksConnectionManager
    AdapterSpecificConfigs = IdivmDatabricksConfig

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        config.credentials.resolve_paths(getattr(config, "project_root", "."))

    @classmethod
    def get_adapter_run_info(cls, config: Any) -> AdapterTrackingRelationInfo:
        """The adapter's name and version, set explicitly: dbt would derive the package name from the name of the class."""
        found = DatabricksAdapter.get_adapter_run_info(config)
        return replace(found, adapter_name="idivm_databricks", adapter_version=version)

    @property
    def idivm_engine(self) -> Engine:
        return self.idivm_engine_for("", "")

    def idivm_engine_for(self, model: str, owner: str) -> Engine:
        """The engine for a cluster or a SQL warehouse, depending on the compute of this thread's connection."""
        return engine_for(self.config.credentials, model, owner, is_cluster=self.connections.is_cluster())

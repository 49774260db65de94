"""The adapter: dbt-spark's, with Delta tables by default and the methods that the idivm materialization calls."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.context import SpawnContext
from typing import Any

from dbt.adapters.spark.impl import SparkAdapter, SparkConfig

from dbt.adapters.idivm.connections import IdivmConnectionManager
from dbt.adapters.idivm.docs_facts import DocsMixin
from dbt.adapters.idivm.settings import MergedSettings
from dbt.adapters.idivm.shared import IdivmMixin


@dataclass
class IdivmConfig(MergedSettings, SparkConfig):
    """dbt-spark's settings plus ours."""


class IdivmAdapter(IdivmMixin, DocsMixin, SparkAdapter):
    ConnectionManager = IdivmConnectionManager
    AdapterSpecificConfigs = IdivmConfig

    def __init__(self, config: Any, mp_context: SpawnContext) -> None:
        super().__init__(config, mp_context)
        if config.credentials.is_embedded:
            config.credentials.resolve_paths(getattr(config, "project_root", "."))

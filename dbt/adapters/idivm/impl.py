"""The adapter: dbt-spark's, with Delta tables by default and the methods that the idivm materialization calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.spark import SparkAdapter

from dbt.adapters.idivm.connections import IdivmConnectionManager
from dbt.adapters.idivm.docs_facts import DocsMixin

CHANGE_FEED_PROPERTY = "delta.enableChangeDataFeed"


class IdivmAdapter(DocsMixin, SparkAdapter):
    ConnectionManager = IdivmConnectionManager

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        if config.credentials.is_embedded:
            config.credentials.resolve_paths(getattr(config, "project_root", "."))

    def drop_relation(self, relation: Any) -> None:
        """Drop a relation; with one of ours the tables behind it."""
        behind = self.idivm_behind(relation)
        super().drop_relation(relation)
        for table in behind:
            super().drop_relation(table)

    def pre_model_hook(self, config: Mapping[str, Any]) -> None:
        """Give a model the defaults of this type before its materialization reads them.

        dbt-spark's macros each read `file_format` themselves and take parquet when it is missing.
        """
        node = getattr(config, "model", None)
        if node is not None and getattr(node, "config", None) is not None:
            default_to_delta(node.config)


def default_to_delta(config: Any) -> None:
    """Delta with change data feed, unless the user configured something else. `config` is a node's, changed in place."""
    if config.get("file_format") is None:
        config["file_format"] = "delta"
    if config["file_format"] == "delta":
        config["tblproperties"] = {CHANGE_FEED_PROPERTY: "true", **(config.get("tblproperties") or {})}

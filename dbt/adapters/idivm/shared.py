"""Common parts of the adapter types: the methods of the materialization, and dropping relations with the tables behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.idivm.maintenance import MaintenanceMixin

CHANGE_FEED_PROPERTY = "delta.enableChangeDataFeed"


class IdivmMixin(MaintenanceMixin):
    """A mixin to be listed before the adapter class of an engine."""

    def drop_relation(self, relation: Any) -> None:
        """Drop a relation and, if it is one of ours, the tables behind it."""
        behind = self.idivm_behind(relation)
        super().drop_relation(relation)
        for table in behind:
            super().drop_relation(table)

    def pre_model_hook(self, config: Mapping[str, Any]) -> Any:
        """Give a model the defaults of this type before its materialization reads them.

        dbt-spark's macros each read `file_format` themselves and default to parquet.
        """
        node = getattr(config, "model", None)
        if node is not None and getattr(node, "config", None) is not None:
            default_to_delta(node.config)
        return super().pre_model_hook(config)


def default_to_delta(config: Any) -> None:
    """Set the format to Delta with change data feed, unless the user configured something
    else. `config` of a node is changed in place.
    """
    if config.get("file_format") is None:
        config["file_format"] = "delta"
    if config["file_format"] == "delta":
        config["tblproperties"] = {CHANGE_FEED_PROPERTY: "true", **(config.get("tblproperties") or {})}

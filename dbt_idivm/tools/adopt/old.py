"""What is known of a model as it was before: its strategy, its settings, its inputs, and what an incremental run takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbt_idivm.artifacts import Node
from dbt_idivm.declared_keys import written_name
from dbt_idivm.tools.adopt.batches import Batches

INCREMENTAL = "incremental"
# What dbt's adapters do without `incremental_strategy`
_DEFAULTS = {"spark": "append", "idivm": "append", "databricks": "merge", "idivm_databricks": "merge"}
_SPELT = {"delete_insert": "delete+insert"}
_MERGING = ("merge", "delete+insert")


@dataclass(frozen=True)
class Old:
    """A model of kind `incremental`, `table` or `view`. `strategy`: None if it is not known. `inputs`: as in `ref` and `source`.
    `timed`: those with a setting `event_time`, which microbatch filters. `has_filter`: whether an incremental run has a text of
    its own. `batches`: None if its SELECT cannot be read."""

    kind: str
    strategy: str | None
    unique_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    config: Mapping[str, Any]
    inputs: tuple[str, ...]
    timed: frozenset[str]
    has_filter: bool
    batches: Batches | None = None

    @property
    def keeps_one_row(self) -> bool:
        """Whether a run replaces the rows of its keys, instead of adding rows only."""
        return self.strategy in _MERGING and bool(self.unique_key)


def old(node: Node, nodes: Mapping[str, Node], adapter: str | None, has_filter: bool, batches: Batches | None) -> Old:
    """`nodes`: all nodes of the project, sources too. `adapter`: the type of the profile, as in the manifest."""
    config = node["config"]
    read = [
        nodes[each]
        for each in (node.get("depends_on") or {}).get("nodes") or ()
        if each in nodes and nodes[each].get("resource_type") in ("model", "seed", "snapshot", "source")
    ]
    return Old(
        str(config.get("materialized") or "view"),
        strategy_of(config, adapter),
        names(config.get("unique_key")),
        names(config.get("partition_by")),
        config,
        tuple(dict.fromkeys(written_name(each) for each in read)),
        frozenset(written_name(each) for each in read if each["config"].get("event_time")),
        has_filter,
        batches,
    )


def strategy_of(config: Mapping[str, Any], adapter: str | None) -> str | None:
    """The incremental strategy of a model; "" for another kind, None if the adapter decides and is not known."""
    if config.get("materialized") != INCREMENTAL:
        return ""
    given = str(config.get("incremental_strategy") or "default").lower()
    return _DEFAULTS.get(str(adapter)) if given == "default" else _SPELT.get(given, given)


def names(value: Any) -> tuple[str, ...]:
    """A column or a list of columns."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()

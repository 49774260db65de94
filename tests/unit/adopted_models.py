"""Models as people write them, and the manifests that dbt would make of them, for the tests of `idivm adopt`."""

from __future__ import annotations

from typing import Any

from dbt_idivm.tools.adopt.adopt import Adoption, adoption

Node = dict[str, Any]


def source(name: str, **config: Any) -> Node:
    return {
        "unique_id": f"source.shop.raw.{name}",
        "resource_type": "source",
        "source_name": "raw",
        "name": name,
        "relation_name": f"raw.{name}",
        "config": config,
    }


def model(name: str, *reads: str, **given: Any) -> Node:
    """A model of the project; `config` and other parts of its node as given."""
    config = given.pop("config", {})
    return {
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "language": "sql",
        "schema": "main",
        "relation_name": f"main.{name}",
        "original_file_path": f"models/{name}.sql",
        "config": {"materialized": "incremental", "lookback": 1, **config},
        "unrendered_config": config,
        "depends_on": {"nodes": list(reads), "macros": list(given.pop("macros", ()))},
        "columns": {},
        **given,
    }


def manifest(*nodes: Node, macros: tuple[Node, ...] = (), adapter: str = "spark") -> Node:
    return {
        "metadata": {"project_name": "shop", "adapter_type": adapter},
        "nodes": {each["unique_id"]: each for each in nodes if each["resource_type"] != "source"},
        "sources": {each["unique_id"]: each for each in nodes if each["resource_type"] == "source"},
        "macros": {each["unique_id"]: each for each in macros},
    }


def macro(name: str, text: str, *calls: str, package: str = "shop") -> Node:
    return {
        "unique_id": f"macro.{package}.{name}",
        "name": name,
        "package_name": package,
        "original_file_path": f"macros/{name}.sql",
        "macro_sql": text,
        "depends_on": {"macros": list(calls)},
    }


ORDERS, CUSTOMERS = source("orders"), source("customers")
READS = (ORDERS["unique_id"], CUSTOMERS["unique_id"])


def adopted(text: str, /, *others: Node, properties: Node | None = None, **config: Any) -> Adoption:
    """Adopt a model with this text, which reads `raw.orders` and `raw.customers`, with this config in the manifest."""
    node = model("sales", *READS, macros=config.pop("macros", ()), config=config)
    return adoption(node, "sales", text, manifest(node, ORDERS, CUSTOMERS, *others), properties)

"""A dbt properties file as catalog facts, so that a model can be explained without dbt, Spark or data.

    sources:
      - name: shop
        tables:
          - name: orders
            columns:
              - {name: id, data_type: bigint, data_tests: [unique, not_null]}
              - {name: price, data_type: "decimal(10,2)"}
    models:
      - name: customers
        columns: ...

Keys are declared as dbt users declare them, and count as in dbt's graph (`declared_keys.py`). A source is `shop.orders` in SQL, a
model has its name, and version 2 of a model is `sales_v2`, and `sales` as well if it is the latest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.declared_keys import KeyIndex
from dbt_idivm.errors import IdivmError, finding, listed, nearest
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.properties_file import nodes_of, tests_of
from dbt_idivm.relation_name import name_parts

Node = Mapping[str, Any]


class SchemaFileError(Exception):
    """The properties file lacks something that the planner needs; the message names the place."""


def catalog_of(document: Node) -> Catalog:
    """The tables in a parsed properties file. Raises SchemaFileError."""
    nodes = nodes_of(document)
    keys = KeyIndex({"nodes": {each["unique_id"]: each for node in nodes for each in (node, *tests_of(node))}})
    return Catalog({node["relation_name"]: _table(node, keys) for node in nodes})


def _table(node: Node, keys: KeyIndex) -> TableInfo:
    name = str(node["relation_name"])
    columns = tuple(_attribute(name, column) for column in node["columns"].values())
    if not columns:
        raise SchemaFileError(f"`{name}` lists no columns: the planner needs their names and data types")
    key = next((found.columns for found in keys.declared(node)), None)
    return TableInfo(name, columns, key, "schema file" if key else "")


def _attribute(table: str, column: Node) -> Attribute:
    kind = column.get("data_type")
    if not kind:
        raise SchemaFileError(f"column `{column.get('name')}` of `{table}` has no data_type")
    return Attribute(str(column["name"]), str(kind))


def with_candidates(error: IdivmError, catalog: Catalog) -> IdivmError:
    """The error, with IDIVM-123 for each relation that is not in the files: it names those that are."""
    return IdivmError(
        replace(
            finding(123, each.place, **each.details, candidates=_candidates(each.details["source"], catalog)), model=each.model
        )
        if each.code == "IDIVM-301"
        else each
        for each in error.findings
    )


def _candidates(source: str, catalog: Catalog) -> str:
    """The relations with the same last part as `source`; else those with the most similar ones."""
    by_last: dict[str, list[str]] = {}
    for name in sorted(catalog.tables):
        by_last.setdefault(name_parts(name)[-1], []).append(name)
    if not by_last:
        return "they list none"
    last = name_parts(source)[-1]
    found = by_last.get(last) or [name for word in nearest(last, by_last) for name in by_last[word]]
    return f"they list {listed(found)}" if last in by_last else f"the nearest that they list: {listed(found)}"


_REF = re.compile(
    r"\{\{\s*ref\(\s*(?:['\"][^'\"]*['\"]\s*,\s*)?['\"](?P<name>[^'\"]+)['\"]"
    r"(?:\s*,\s*(?:v|version)\s*=\s*['\"]?(?P<version>\w+)['\"]?)?\s*\)\s*\}\}"
)
_SOURCE = re.compile(r"\{\{\s*source\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]\s*\)\s*\}\}")
_CONFIG = re.compile(r"\{\{\s*config\(.*?\)\s*\}\}", re.DOTALL)


def plain_sql(text: str) -> str:
    """A model's text with `ref` and `source` replaced by names and without its `config`. Raises SchemaFileError for other
    Jinja."""
    with_names = _REF.sub(lambda found: found["name"] + (f"_v{found['version']}" if found["version"] else ""), text)
    sql = _CONFIG.sub("", _SOURCE.sub(r"\1.\2", with_names))
    if "{{" in sql or "{%" in sql:
        raise SchemaFileError(
            "the model uses Jinja other than ref, source and config: run `dbt compile` and explain the file below target/compiled"
        )
    return sql

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

A key is declared as dbt users declare one: `unique` and `not_null` on a column, a `primary_key` constraint, or a test of a
package (`key_tests.py`). A source is `shop.orders` in SQL, a model has its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.key_tests import said
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.relation_name import relation_name

Node = Mapping[str, Any]
_CONFIGURES = {"config", "where", "severity", "error_if", "fail_calc"}


class SchemaFileError(Exception):
    """The properties file lacks something that the planner needs; the message names the place."""


def catalog_of(document: Node) -> Catalog:
    """The tables in a parsed properties file. Raises SchemaFileError."""
    tables = [
        _table(relation_name(source["name"], table["name"]), table)
        for source in document.get("sources") or ()
        for table in source.get("tables") or ()
    ]
    tables += [_table(relation_name(model["name"]), model) for model in document.get("models") or ()]
    return Catalog({table.name: table for table in tables})


def _table(name: str, node: Node) -> TableInfo:
    columns = tuple(_attribute(name, column) for column in node.get("columns") or ())
    if not columns:
        raise SchemaFileError(f"`{name}` lists no columns: the planner needs their names and data types")
    key = next(_keys(node), None)
    return TableInfo(name, columns, key, "schema file" if key else "")


def _attribute(table: str, column: Node) -> Attribute:
    kind = column.get("data_type")
    if not kind:
        raise SchemaFileError(f"column `{column.get('name')}` of `{table}` has no data_type")
    return Attribute(str(column["name"]), str(kind))


def _keys(node: Node) -> Iterator[tuple[str, ...]]:
    """The declared keys of a table, most reliable first."""
    for constraint in node.get("constraints") or ():
        if constraint.get("type") == "primary_key":
            yield tuple(constraint["columns"])
    for column in node.get("columns") or ():
        declared = set(_names(column)) | {c.get("type") for c in column.get("constraints") or ()}
        if "primary_key" in declared or {"unique", "not_null"} <= declared:
            yield (column["name"],)
    for test in _tests(node):
        for name, given in test.items() if isinstance(test, Mapping) and not test.keys() & {"config", "where"} else ():
            if isinstance(given, Mapping) and not given.keys() & _CONFIGURES:
                found = said(name.rpartition(".")[2], given.get("arguments") or given)
                if found is not None and found.unique and not found.unless:
                    yield found.columns


def _tests(node: Node) -> list[Any]:
    return [*(node.get("data_tests") or ()), *(node.get("tests") or ())]


def _names(node: Node) -> list[str]:
    """Names of the tests that hold for all rows; tests with a config (a filter, a warning) are not included."""
    return [test for test in _tests(node) if isinstance(test, str)]


_REF = re.compile(r"\{\{\s*ref\(\s*['\"](?:[^'\"]*['\"]\s*,\s*['\"])?([^'\"]+)['\"]\s*\)\s*\}\}")
_SOURCE = re.compile(r"\{\{\s*source\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]\s*\)\s*\}\}")
_CONFIG = re.compile(r"\{\{\s*config\(.*?\)\s*\}\}", re.DOTALL)


def plain_sql(text: str) -> str:
    """A model's text with `ref` and `source` replaced by names and without its `config`. Raises SchemaFileError for other
    Jinja."""
    sql = _CONFIG.sub("", _SOURCE.sub(r"\1.\2", _REF.sub(r"\1", text)))
    if "{{" in sql or "{%" in sql:
        raise SchemaFileError(
            "the model uses Jinja other than ref, source and config: run `dbt compile` and explain the file below target/compiled"
        )
    return sql

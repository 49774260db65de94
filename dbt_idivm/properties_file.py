"""The tables and tests of a dbt properties file in the form of dbt's graph, in whichever syntax they are written.

tests: [unique]                                                    data_tests: [unique]
- dbt_utils.unique_combination_of_columns: {combination_of_columns: [a, b]}
- dbt_utils.unique_combination_of_columns: {arguments: {combination_of_columns: [a, b]}, config: {severity: warn}}
- {name: key_of_sales, test_name: dbt_utils.unique_combination_of_columns, combination_of_columns: [a, b]}
versions: [{v: 2, columns: [{include: all, exclude: [c]}], data_tests: []}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_idivm.relation_name import relation_name

Node = Mapping[str, Any]
# what dbt takes as config where it stands beside the arguments of a test
_CONFIG = {
    *("severity", "tags", "enabled", "where", "limit", "warn_if", "error_if", "fail_calc", "store_failures", "store_failures_as"),
    *("sql_header", "meta", "database", "schema", "alias"),
}
_NO_ARGUMENTS = {"name", "description", "config", "test_name"}


def nodes_of(document: Node) -> list[dict[str, Any]]:
    """The sources and models in a parsed properties file, and each version of a model."""
    found = [
        _node("source", f"{source['name']}.{table['name']}", relation_name(source["name"], table["name"]), table)
        for source in document.get("sources") or ()
        for table in source.get("tables") or ()
    ]
    for model in document.get("models") or ():
        found += _models(model)
    return found


def tests_of(node: Node) -> Iterator[dict[str, Any]]:
    """The generic tests of a node, those of its columns first, as nodes of their own."""
    for column in node["columns"].values():
        name = str(column["name"])
        quoted = f"`{name.replace('`', '``')}`" if column.get("quote") or (column.get("config") or {}).get("quote") else name
        yield from (_test(node, test, {"column_name": quoted}) for test in _written_tests(column) or ())
    yield from (_test(node, test, {}) for test in node["tests"])


def _models(model: Node) -> list[dict[str, Any]]:
    name, versions = model["name"], model.get("versions") or ()
    if not versions:
        return [_node("model", name, relation_name(name), model)]
    latest = model.get("latest_version") or max((version["v"] for version in versions), key=_order)
    found = []
    for version in versions:
        merged = _version(model, version)
        found.append(_node("model", f"{name}.v{version['v']}", relation_name(f"{name}_v{version['v']}"), merged))
        if str(version["v"]) == str(latest):
            found.append(_node("model", name, relation_name(name), merged))
    return found


def _order(version: Any) -> tuple[float, str]:
    """Versions are ordered as numbers where they are numbers, as in dbt."""
    try:
        return float(version), str(version)
    except ValueError:
        return float("inf"), str(version)


def _version(model: Node, version: Node) -> dict[str, Any]:
    """The properties of a version: its own tests and constraints replace those of the model, its columns are added."""
    written = version.get("columns") or ()
    chosen = next((each for each in written if "include" in each), {"include": "all"})
    included, excluded = chosen["include"], chosen.get("exclude") or ()
    columns = {
        column["name"]: column
        for column in model.get("columns") or ()
        if (included in ("all", "*") or column["name"] in included) and column["name"] not in excluded
    }
    columns |= {column["name"]: column for column in written if "name" in column}
    tests = _written_tests(version)
    return {
        "columns": list(columns.values()),
        "constraints": version.get("constraints") or model.get("constraints"),
        "data_tests": _written_tests(model) if tests is None else tests,
    }


def _node(kind: str, name: str, relation: str, written: Node) -> dict[str, Any]:
    return {
        "unique_id": f"{kind}.{name}",
        "resource_type": kind,
        "name": name,
        "source_name": "",
        "relation_name": relation,
        "config": {},
        "columns": {str(column["name"]): column for column in written.get("columns") or ()},
        # dbt keeps the constraints of a model's table only; those of a source's table still say what its owner states
        "constraints": written.get("constraints") or [],
        "tests": _written_tests(written) or [],
    }


def _written_tests(node: Node) -> list[Any] | None:
    """The tests of a table or column, under either name; None if there is no list of them."""
    lists = [node[name] for name in ("data_tests", "tests") if node.get(name) is not None]
    return [test for each in lists for test in each] if lists else None


def _test(node: Node, written: Any, of_column: Node) -> dict[str, Any]:
    """A test as a node of dbt's graph. What is no definition of a test has no name."""
    name, given = _named(written)
    config = {**{key: value for key, value in given.items() if key in _CONFIG}, **(given.get("config") or {})}
    arguments = {key: value for key, value in given.items() if key not in _CONFIG | _NO_ARGUMENTS}
    package, _, own_name = name.rpartition(".")
    return {
        "unique_id": f"test.{node['unique_id']}.{written}.{of_column.get('column_name', '')}",
        "resource_type": "test",
        "name": name,
        "test_metadata": {"name": own_name, "namespace": package or None, "kwargs": {**of_column, **arguments}},
        "attached_node": node["unique_id"],
        "config": config,
    }


def _named(written: Any) -> tuple[str, Node]:
    """The name of a test and what it is given."""
    if isinstance(written, Mapping) and "test_name" in written:
        return str(written["test_name"]), written
    if isinstance(written, Mapping) and len(written) == 1:
        ((name, given),) = written.items()
        return str(name), given if isinstance(given, Mapping) else {}
    return (written, {}) if isinstance(written, str) else ("", {})

"""`idivm explain --project --flowchart`: which relation feeds which in a dbt project, as a flowchart for Mermaid.

    [("orders")]        a table that is read
    ["sales<br>…"]      a model, and how changes reach it; dashed: it is rebuilt on every run
    [["t: orders"]]     a cache, once for all models that have it (ADR 0035)
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.cache_names import without_digest
from dbt_idivm.project import Explained, Model, Project
from dbt_idivm.relation_name import name_parts

_ESCAPES = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"}


class _Chart:
    """The lines, and the numbers of what has been drawn."""

    def __init__(self) -> None:
        self.lines = ["flowchart LR"]
        self.numbers: dict[str, str] = {}
        self.edges: set[tuple[str, str]] = set()

    def node(self, name: str, left: str, text: str, right: str) -> str:
        """The identifier of a node, which is drawn the first time."""
        known = self.numbers.get(name)
        if known is None:
            known = self.numbers[name] = f"n{len(self.numbers) + 1}"
            self.lines.append(f"  {known}{left}\"{text}\"{right}")
        return known

    def edge(self, of: str, to: str) -> None:
        if (of, to) not in self.edges:
            self.edges.add((of, to))
            self.lines.append(f"  {of} --> {to}")


def flowchart(project: Project) -> str:
    """The models with `materialized='idivm'`, what they read, and their caches."""
    chart = _Chart()
    planned = {each.unique_id: each for each in project.planned()}
    names = {table: unique_id for unique_id, each in planned.items() for table in each.tables}
    described = dict(zip((str(node["unique_id"]) for node in project.nodes_of_models()), project.explained(), strict=True))
    rebuilt = [_model(chart, unique_id, each) for unique_id, each in described.items() if each.how is None]
    for unique_id, model in planned.items():
        target = _model(chart, unique_id, described[unique_id])
        for reader, tables in _reads(model):
            to = target if reader is None else _cache(chart, reader)
            for table in tables:
                chart.edge(_relation(chart, table, names, described, model), to)
    for node in project.nodes_of_models():
        unique_id = str(node["unique_id"])
        if unique_id not in planned:
            for table in project.keys.inputs(node):
                chart.edge(_table(chart, table), _model(chart, unique_id, described[unique_id]))
    if rebuilt:
        chart.lines += ["  classDef rebuilt stroke-dasharray: 4", f"  class {','.join(rebuilt)} rebuilt"]
    return "\n".join(chart.lines)


def _reads(model: Model) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """A cache, or None for the model itself, and the tables that it reads."""
    yield from ((cache.table, cache.plan.tables) for cache in model.plan.caches)
    yield None, model.plan.tables


def _relation(chart: _Chart, table: str, names: dict[str, str], described: dict[str, Explained], model: Model) -> str:
    if any(table == cache.table for cache in model.plan.caches):
        return _cache(chart, table)
    return _model(chart, names[table], described[names[table]]) if table in names else _table(chart, table)


def _model(chart: _Chart, unique_id: str, each: Explained) -> str:
    how = each.how or (each.refusal.code if each.refusal is not None else "not known")
    return chart.node(unique_id, "[", f"{_escaped(each.model)}<br>{_escaped(how)}", "]")


def _cache(chart: _Chart, table: str) -> str:
    return chart.node(table, "[[", f"cache of {_escaped(without_digest(name_parts(table)[-1]))}", "]]")


def _table(chart: _Chart, table: str) -> str:
    return chart.node(table, "[(", _escaped(name_parts(table)[-1]), ")]")


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in text)

"""The graph of a dbt project: models with `materialized='idivm'`, their inputs, and their caches (ADR 0035)."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.cache_names import without_digest
from dbt_idivm.declared_keys import relation_names
from dbt_idivm.project import Explained, Model, Project
from dbt_idivm.relation_name import name_parts
from dbt_idivm.tools.flowchart.graph import Graph, Kind, Node


class _Builder:
    """Collects nodes and edges, in the order in which they are found."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.planned = {each.unique_id: each for each in project.planned()}
        nodes = project.nodes_of_models()
        self.names = {table: str(node["unique_id"]) for node in nodes for table in relation_names(node)}
        self.names |= {table: unique_id for unique_id, each in self.planned.items() for table in each.tables}
        self.described = dict(zip((str(node["unique_id"]) for node in nodes), project.explained(), strict=True))
        self.nodes: dict[str, tuple[int, Node]] = {}  # full name → position, node
        self.edges: dict[tuple[int, int], None] = {}

    def graph(self) -> Graph:
        for unique_id, each in self.described.items():
            if each.how is None:
                self._model(unique_id)
        for unique_id, model in self.planned.items():
            target = self._model(unique_id)
            for reader, tables in _reads(model):
                to = target if reader is None else self._cache(reader)
                for table in tables:
                    self._edge(self._relation(table, model), to)
        for node in self.project.nodes_of_models():
            if node["unique_id"] not in self.planned:
                for table, read in self.project.keys.inputs(node).items():
                    of = self._model(read["unique_id"]) if read["unique_id"] in self.described else self._table(table)
                    self._edge(of, self._model(str(node["unique_id"])))
        return Graph(tuple(node for _, node in self.nodes.values()), tuple(self.edges))

    def _relation(self, table: str, reader: Model) -> int:
        if any(table == cache.table for cache in reader.plan.caches):
            return self._cache(table)
        return self._model(self.names[table]) if table in self.names else self._table(table)

    def _model(self, unique_id: str) -> int:
        each = self.described[unique_id]
        kind = Kind.REBUILT if each.how is None else Kind.MODEL
        return self._node(Node(kind, unique_id, (each.model, _short(each)), each.how or each.why))

    def _cache(self, table: str) -> int:
        return self._node(Node(Kind.CACHE, table, (f"cache of {without_digest(name_parts(table)[-1])}",)))

    def _table(self, table: str) -> int:
        return self._node(Node(Kind.TABLE, table, (name_parts(table)[-1],)))

    def _node(self, node: Node) -> int:
        return self.nodes.setdefault(node.name, (len(self.nodes), node))[0]

    def _edge(self, of: int, to: int) -> None:
        self.edges[of, to] = None


def graph_of(project: Project) -> Graph:
    """The graph: first the models that are rebuilt, then each other model with its inputs."""
    return _Builder(project).graph()


def _short(each: Explained) -> str:
    return each.how or (each.refusal.code if each.refusal is not None else "not known")


def _reads(model: Model) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """Pairs (cache, tables that it reads); the cache is None for the model itself."""
    yield from ((cache.table, cache.plan.tables) for cache in model.plan.caches)
    yield None, model.plan.tables

"""Write a graph as a Mermaid flowchart.

[("orders")]        a table that is read
["sales<br>…"]      a model, and how changes reach it; dashed: it is rebuilt on every run
[["t: orders"]]     a cache, drawn once for all models that use it
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_idivm.tools.flowchart.graph import Graph, Kind, Node

_ESCAPES = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"}
_SHAPES = {Kind.TABLE: ("[(", ")]"), Kind.MODEL: ("[", "]"), Kind.REBUILT: ("[", "]"), Kind.CACHE: ("[[", "]]")}


def mermaid(graph: Graph) -> str:
    """One line for each edge, and for each node before the first edge that refers to it."""
    return "\n".join(_lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    yield "flowchart LR"
    written = 0
    for edge in graph.edges:
        while written <= max(edge):
            yield _line(written, graph.nodes[written])
            written += 1
        of, to = edge
        yield f"  {_identifier(of)} --> {_identifier(to)}"
    yield from (_line(position, graph.nodes[position]) for position in range(written, len(graph.nodes)))
    rebuilt = [_identifier(position) for position, node in enumerate(graph.nodes) if node.kind is Kind.REBUILT]
    if rebuilt:
        yield "  classDef rebuilt stroke-dasharray: 4"
        yield f"  class {','.join(rebuilt)} rebuilt"


def _line(position: int, node: Node) -> str:
    left, right = _SHAPES[node.kind]
    return f'  {_identifier(position)}{left}"{"<br>".join(map(_escaped, node.lines))}"{right}'


def _identifier(position: int) -> str:
    return f"n{position + 1}"


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in text)

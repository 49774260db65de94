"""The graph of a flowchart: relations, and which of them are read to refresh which. It contains nothing about the drawing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The role of a relation in the refreshes of a project. A model of unknown role is drawn like one that is rebuilt."""

    TABLE = "table that is read"
    MODEL = "model that is maintained"
    REBUILT = "model that is rebuilt on every run"
    CACHE = "cache"


@dataclass(frozen=True)
class Node:
    """A relation. `name`: full name; `lines`: label; `about`: additional information for readers."""

    kind: Kind
    name: str
    lines: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True)
class Graph:
    """`edges`: pairs (input, reader) of positions in `nodes`, without duplicates."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

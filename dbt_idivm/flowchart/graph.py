"""The graph of a flowchart: relations, and which of them is read to refresh which. How it is written is no part of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a relation is to the refreshes of a project; a model of which that is not known is drawn as one that is rebuilt."""

    TABLE = "table that is read"
    MODEL = "model that is maintained"
    REBUILT = "model that is rebuilt on every run"
    CACHE = "cache"


@dataclass(frozen=True)
class Node:
    """A relation. `name`: its full name; `lines`: its label; `about`: what a reader may want to know besides."""

    kind: Kind
    name: str
    lines: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True)
class Graph:
    """`edges`: positions in `nodes`, of what is read and of what reads it; each pair once."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()

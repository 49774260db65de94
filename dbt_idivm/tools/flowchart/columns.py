"""Assign the nodes of a graph to columns, so that edges lead from left to right. Sizes are not considered.

    orders ─► sales ─┬─► by_month ─► growth
                     └──────•──────► shares      • a bend: a place in each column that an edge passes

A node's column is the number of edges on the longest path to it. Nodes without inputs are placed beside their first reader. Edges
from one node share their bends, so that they separate as late as possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

Edge = tuple[int, int]


@dataclass(frozen=True)
class Columns:
    """`columns`: the nodes and bends of each column, unordered. `routes`: for each edge, the nodes and bends on it, including its
    ends. Bends have numbers that no node has. An edge that closes a cycle does not lead to the right, and has no bends."""

    columns: tuple[tuple[int, ...], ...]
    routes: tuple[tuple[int, ...], ...]


def columns_of(count: int, edges: Sequence[Edge]) -> Columns:
    """Assign nodes 0 … `count` - 1 to columns."""
    sequence = _sequence(count, edges)
    place = {node: position for position, node in enumerate(sequence)}
    forward = [(of, to) for of, to in edges if place[of] < place[to]]
    column = _beside_readers(_longest_paths(sequence, forward), forward)
    columns: list[list[int]] = [[] for _ in range(max(column, default=-1) + 1)]
    for node in sequence:
        columns[column[node]].append(node)
    bends: dict[tuple[int, int], int] = {}  # node, column → the bend of its edges there
    routes = []
    for of, to in edges:
        passed = range(column[of] + 1, column[to])
        for at in passed:
            if (of, at) not in bends:
                bends[of, at] = count + len(bends)
                columns[at].append(bends[of, at])
        routes.append((of, *(bends[of, at] for at in passed), to))
    return Columns(tuple(map(tuple, columns)), tuple(routes))


def _sequence(count: int, edges: Collection[Edge]) -> list[int]:
    """The nodes in topological order; cycles are broken at one of their nodes."""
    inputs: list[dict[int, None]] = [{} for _ in range(count)]
    outputs: list[list[int]] = [[] for _ in range(count)]
    for of, to in edges:
        if of != to:
            inputs[to][of] = None
            outputs[of].append(to)
    ready = deque(node for node in range(count) if not inputs[node])
    left = dict.fromkeys(range(count))
    found = []
    while left:
        node = ready.popleft() if ready else _on_a_circle(next(iter(left)), inputs)
        del left[node]
        found.append(node)
        for to in outputs[node]:
            del inputs[to][node]
            if not inputs[to] and to in left:
                ready.append(to)
    return found


def _on_a_circle(node: int, inputs: Sequence[Collection[int]]) -> int:
    """A node on a cycle that leads to `node`, if each node is waiting for another one."""
    seen = set()
    while node not in seen:
        seen.add(node)
        node = next(iter(inputs[node]))
    return node


def _longest_paths(sequence: Sequence[int], forward: Sequence[Edge]) -> list[int]:
    """Node → number of edges on the longest path to it."""
    outputs: dict[int, list[int]] = {}
    for of, to in forward:
        outputs.setdefault(of, []).append(to)
    found = [0] * len(sequence)
    for node in sequence:
        for to in outputs.get(node, ()):
            found[to] = max(found[to], found[node] + 1)
    return found


def _beside_readers(column: Sequence[int], forward: Sequence[Edge]) -> list[int]:
    reading = {to for _, to in forward}
    first: dict[int, int] = {}  # node without inputs → column of its first reader
    for of, to in forward:
        if of not in reading:
            first[of] = min(first.get(of, column[to]), column[to])
    return [first[node] - 1 if node in first else at for node, at in enumerate(column)]

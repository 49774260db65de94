"""In which order a column is drawn from top to bottom, so that few edges cross each other.

The sweeps of Sugiyama et al. (1981): a column is ordered by the mean place of what its edges lead to in the column before it,
then, from the other side, in the column behind it; the best order of all sweeps is taken. Orders depend on nothing but the graph.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dbt_idivm.flowchart.columns import Columns

_SWEEPS = 24
Order = Sequence[Sequence[int]]
Neighbours = Mapping[int, Sequence[int]]


def with_few_crossings(found: Columns) -> Columns:
    """With columns whose order is from top to bottom."""
    left, right = neighbours(found)
    order: Order = _by_descent(found.columns, right)
    best, fewest = order, crossings(order, right)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        order = _swept(order, left) if sweep % 2 == 0 else _swept(order[::-1], right)[::-1]
        count = crossings(order, right)
        if count < fewest:
            best, fewest = order, count
    return Columns(tuple(map(tuple, best)), found.routes)


def neighbours(found: Columns) -> tuple[Neighbours, Neighbours]:
    """For each node and bend those in the column on its left, and on its right, that an edge connects it with."""
    column = {each: at for at, members in enumerate(found.columns) for each in members}
    left: dict[int, list[int]] = {each: [] for each in column}
    right: dict[int, list[int]] = {each: [] for each in column}
    for of, to in dict.fromkeys(pair for route in found.routes for pair in pairwise(route)):
        if column[of] < column[to]:
            left[to].append(of)
            right[of].append(to)
    return left, right


def crossings(order: Order, right: Neighbours) -> int:
    """How often edges cross, between all columns."""
    total = 0
    for here, there in pairwise(order):
        place = {each: at for at, each in enumerate(there)}
        seen: list[int] = []  # the right ends of edges that begin above
        for each in here:
            ends = sorted(place[other] for other in right[each])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _by_descent(columns: Order, right: Neighbours) -> list[list[int]]:
    """Each node above what was not reached from the nodes above it: related nodes are near each other from the start."""
    rank: dict[int, int] = {}
    for start in (each for members in columns for each in members):
        waiting = [start]
        while waiting:
            each = waiting.pop()
            if each not in rank:
                rank[each] = len(rank)
                waiting.extend(reversed(right[each]))
    return [sorted(members, key=rank.__getitem__) for members in columns]


def _swept(order: Order, before: Neighbours) -> list[list[int]]:
    """Each column but the first ordered by the mean place of what is `before` it; what has nothing there stays where it is."""
    found = [list(order[0])]
    for members in order[1:]:
        place = dict(_places(found[-1]))
        own = dict(_places(members))
        mean = {
            each: sum(place[other] for other in before[each]) / len(before[each]) if before[each] else own[each]
            for each in members
        }
        found.append(sorted(members, key=mean.__getitem__))
    return found


def _places(members: Sequence[int]) -> Iterable[tuple[int, float]]:
    """Between 0 and 1, so that columns of different lengths can be compared."""
    return ((each, (at + 0.5) / len(members)) for at, each in enumerate(members))

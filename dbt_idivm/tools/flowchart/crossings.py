"""Order each column from top to bottom so that few edges cross.

The sweeps of Sugiyama et al. (1981): a column is ordered by the mean place of its neighbours in the column before it, and in the
next sweep in the column after it; the best order of all sweeps is used. The result depends only on the graph.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dbt_idivm.tools.flowchart.columns import Columns

_SWEEPS = 24
Order = Sequence[Sequence[int]]
Neighbours = Mapping[int, Sequence[int]]


def with_few_crossings(found: Columns) -> Columns:
    """The columns, ordered from top to bottom."""
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
    """For each node and bend, its neighbours in the column on its left, and those in the column on its right."""
    column = {each: at for at, members in enumerate(found.columns) for each in members}
    left: dict[int, list[int]] = {each: [] for each in column}
    right: dict[int, list[int]] = {each: [] for each in column}
    for of, to in dict.fromkeys(pair for route in found.routes for pair in pairwise(route)):
        if column[of] < column[to]:
            left[to].append(of)
            right[of].append(to)
    return left, right


def crossings(order: Order, right: Neighbours) -> int:
    """The number of crossings between all columns."""
    total = 0
    for here, there in pairwise(order):
        place = {each: at for at, each in enumerate(there)}
        seen: list[int] = []  # the right ends of edges that start further up
        for each in here:
            ends = sorted(place[other] for other in right[each])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _by_descent(columns: Order, right: Neighbours) -> list[list[int]]:
    """An initial order by depth-first search, which places related nodes near each other."""
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
    """Order each column except the first by the mean place of its neighbours `before` it; nodes without such neighbours keep
    their place."""
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
    """Relative places between 0 and 1, so that columns of different lengths can be compared."""
    return ((each, (at + 0.5) / len(members)) for at, each in enumerate(members))

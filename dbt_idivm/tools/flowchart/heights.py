"""Vertical positions of nodes and bends: in the order of their columns, without overlaps, and close to their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dbt_idivm.tools.flowchart.columns import Columns
from dbt_idivm.tools.flowchart.crossings import neighbours

_SWEEPS = 12


def heights_of(found: Columns, needed: Callable[[int], float]) -> dict[int, float]:
    """The vertical middle of each node and bend, starting from 0 at the top. `needed`: height of a node or bend including the
    space around it."""
    left, right = neighbours(found)
    both = {each: [*left[each], *right[each]] for each in left}
    at: dict[int, float] = {}
    for members in found.columns:
        at.update(_apart(members, needed, dict.fromkeys(members, 0.0)))
    for sweep in range(_SWEEPS):
        last = sweep >= _SWEEPS - 2
        columns, towards = (found.columns, left) if sweep % 2 == 0 else (found.columns[::-1], right)
        for members in columns:
            others = both if last else towards
            at.update(_apart(members, needed, {each: _mean((at[other] for other in others[each]), at[each]) for each in members}))
    top = min((at[each] - needed(each) / 2 for each in at), default=0.0)
    return {each: height - top for each, height in at.items()}


def _apart(members: Sequence[int], needed: Callable[[int], float], wanted: Mapping[int, float]) -> dict[int, float]:
    """The heights closest to the wanted ones (least squares) that give each member its space.

    After subtracting the space above, heights only have to be ascending: neighbours that are not are merged into a block at their
    mean.
    """
    above: list[float] = []  # distance from the first middle to this one
    for at, each in enumerate(members):
        above.append(above[-1] + (needed(members[at - 1]) + needed(each)) / 2 if at else 0.0)
    blocks: list[tuple[float, int]] = []  # mean, number of members
    for each, space in zip(members, above, strict=True):
        mean, size = wanted[each] - space, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (other * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    means = [mean for mean, size in blocks for _ in range(size)]
    return {each: mean + space for each, mean, space in zip(members, means, above, strict=True)}


def _mean(values: Iterable[float], otherwise: float) -> float:
    found = list(values)
    return sum(found) / len(found) if found else otherwise

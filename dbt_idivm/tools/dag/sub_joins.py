"""The parts of a block that become groups, and their joins from smaller parts: associativity and commutativity.

    a ⋈ b ⋈ c as a chain: a, b, c, a ⋈ b, b ⋈ c, and a ⋈ b ⋈ c from (a ⋈ b, c) and (a, b ⋈ c)

A part is a set of sources, represented by the bits of an integer. All connected parts are used (Mistry et al. 2001, §4.2: one
equivalence node for every subset of the relations; here without products). A wide block has too many; only its parts with up to
three sources, the prefixes of the written order, and the parts that other views have are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from dbt_idivm.tools.dag.forms import Block, source_of

WIDE = 8  # a block with more sources is wide
_SMALL = 3
Pairs = list[tuple[int, int]]


def bits(part: int) -> tuple[int, ...]:
    """The numbers of the sources in a part."""
    return tuple(number for number in range(part.bit_length()) if part >> number & 1)


class Links:
    """The connections between the sources of a block: classes, and tests of several sources."""

    def __init__(self, block: Block) -> None:
        self._classes = tuple(_mask(each) for each in block.classes)
        whole = {each[0]: mask for each, mask in zip(block.classes, self._classes, strict=True)}
        # for each test, and each of its columns, the sources that the column can be read from
        self._tests = tuple(
            tuple(whole.get(name) or _mask((name,)) for name in test.columns)
            for test in block.tests
            if not test.last and len(test.columns) > 1
        )

    def connect(self, part: int) -> bool:
        """Whether a part is connected by conditions on its own sources alone."""
        grown = part & -part
        while grown != (more := self._grown(grown, part)):
            grown = more
        return grown == part

    def _grown(self, grown: int, part: int) -> int:
        for mask in self._classes:
            grown |= mask & part if mask & grown else 0
        for test in self._tests:
            inside = [mask & part for mask in test]
            if all(inside) and any(mask & grown for mask in inside):
                for mask in inside:
                    grown |= mask
        return grown


def _mask(names: Iterable[str]) -> int:
    found = 0
    for name in names:
        found |= 1 << source_of(name)[0]
    return found


def sub_joins(block: Block, wanted: Iterable[int] = ()) -> Mapping[int, Pairs]:
    """Part → the pairs of parts whose join it is, smaller parts first; single sources have no pairs. `wanted`: additional parts
    of a wide block."""
    count = len(block.sources)
    links, everything = Links(block), (1 << count) - 1
    parts = {part for part in _candidates(count) if links.connect(part)} | {everything}
    pairs: dict[int, Pairs] = {}
    if count > WIDE:
        for goal in (everything, *wanted):
            _grow(0, goal, block, links, pairs)
            _grow(goal, everything, block, links, pairs)
    parts |= pairs.keys()
    for part in sorted(parts, key=lambda part: (part.bit_count(), part)):
        found = (
            [pair for pair in _halves(part) if pair[0] in parts and pair[1] in parts]
            if count <= WIDE or part.bit_count() <= _SMALL
            else [(one, part & ~one) for one in sorted(parts) if _is_half(one, part, parts)]
        )
        pairs[part] = [*dict.fromkeys([*found, *pairs.get(part, ())])]
        if not pairs[part] and part.bit_count() > 1:  # a product, or connected only by a test of all its sources
            _grow(0, part, block, links, pairs)
    return {part: pairs[part] for part in sorted(pairs, key=lambda part: (part.bit_count(), part))}


def _candidates(count: int) -> Iterator[int]:
    if count <= WIDE:
        yield from range(1, 1 << count)
        return
    for size in range(1, _SMALL + 1):
        yield from (sum(1 << number for number in each) for each in combinations(range(count), size))


def _halves(part: int) -> Iterator[tuple[int, int]]:
    """All ways to divide a part into two; the first half contains its first source."""
    first = part & -part
    rest = part ^ first
    inside = rest
    while inside:
        inside = (inside - 1) & rest
        yield first | inside, rest ^ inside


def _is_half(one: int, part: int, parts: set[int]) -> bool:
    return one & ~part == 0 and one != part and bool(one & (part & -part)) and part & ~one in parts


def _grow(start: int, goal: int, block: Block, links: Links, pairs: dict[int, Pairs]) -> None:
    """Add the parts between two parts, each with one more source: in the written order, connected sources first."""
    rest = [1 << number for number in block.written if goal & ~start & 1 << number]
    grown = start
    while rest:
        found = next((each for each in rest if not grown or links.connect(grown | each)), rest[0])
        rest.remove(found)
        pairs.setdefault(found, [])
        if grown:
            pairs.setdefault(grown | found, [])
            if (grown, found) not in pairs[grown | found]:
                pairs[grown | found].append((grown, found))
        grown |= found

"""A graph with the positions and sizes of its boxes, and the paths of the edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from dbt_idivm.tools.flowchart.columns import columns_of
from dbt_idivm.tools.flowchart.crossings import with_few_crossings
from dbt_idivm.tools.flowchart.graph import Graph, Node
from dbt_idivm.tools.flowchart.heights import heights_of
from dbt_idivm.tools.flowchart.text import cells, shortened

# In pixels. All characters of the font have the same width, slightly more than 0.6 of its size.
NAME, HOW = 12, 10
_CHARACTER = 0.61
_WIDEST = 230.0
_PADDING = 12.0
LINE = 15.0
_ABOVE, _BETWEEN, _BEND = 22.0, 14.0, 12.0
_GAP, _WIDEST_GAP, _SLOPE = 60.0, 240.0, 0.12


@dataclass(frozen=True)
class Box:
    """A rectangle: its upper left corner, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True)
class Layout:
    """`boxes` and `labels`: those of the nodes, in their order. `ways`: for each edge its boxes: two nodes, and between them
    bends, which have no height."""

    boxes: tuple[Box, ...]
    labels: tuple[tuple[str, ...], ...]
    ways: tuple[tuple[Box, ...], ...]
    width: float
    height: float


def font_size(line: int) -> int:
    """The font size of a line in a label; the first line has the name."""
    return HOW if line else NAME


def text_width(text: str, size: int) -> float:
    return cells(text) * size * _CHARACTER


def layout(graph: Graph) -> Layout:
    """Lay out a graph. All boxes of a column have the same width, so that an edge can pass between them at its bends."""
    found = with_few_crossings(columns_of(len(graph.nodes), graph.edges))
    labels = tuple(_label(node) for node in graph.nodes)
    height = [_ABOVE + LINE * len(label) for label in labels]
    middle = heights_of(found, lambda each: height[each] + _BETWEEN if each < len(height) else _BEND)
    widths = [_width([labels[each] for each in members if each < len(labels)]) for members in found.columns]
    column = {each: at for at, members in enumerate(found.columns) for each in members}
    pairs = [pair for route in found.routes for pair in pairwise(route)]
    gaps = [_GAP] * len(widths)
    for of, to in pairs:
        gaps[column[of]] = min(max(gaps[column[of]], _SLOPE * abs(middle[of] - middle[to])), _WIDEST_GAP)
    left = [0.0, *accumulate(width + gap for width, gap in zip(widths, gaps, strict=True))]
    boxes = {
        each: _box(left[at], middle[each], widths[at], height[each] if each < len(height) else 0.0) for each, at in column.items()
    }
    return Layout(
        tuple(boxes[each] for each in range(len(labels))),
        labels,
        tuple(tuple(boxes[each] for each in route) for route in found.routes),
        max((box.x + box.width for box in boxes.values()), default=0.0),
        max((box.y + box.height for box in boxes.values()), default=0.0),
    )


def _box(left: float, middle: float, width: float, height: float) -> Box:
    return Box(left, middle - height / 2, width, height)


def _label(node: Node) -> tuple[str, ...]:
    return tuple(shortened(text, int(_WIDEST / (font_size(line) * _CHARACTER))) for line, text in enumerate(node.lines))


def _width(labels: Sequence[Sequence[str]]) -> float:
    widths = (text_width(text, font_size(line)) for label in labels for line, text in enumerate(label))
    return 2 * _PADDING + max(widths, default=0.0)

"""Draw a graph as SVG, for a file or a page: edges lead from left to right, and hovering over a box shows its full name.

    a cylinder       a table that is read
    a box            a model, and how changes reach it; dashed: it is rebuilt on every run
    a double frame   a cache, drawn once for all models that use it

Colours follow the reader's light or dark mode. There are no scripts and no external resources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

from dbt_idivm.tools.flowchart.graph import Graph, Kind, Node
from dbt_idivm.tools.flowchart.layout import LINE, NAME, Box, Layout, font_size, layout, text_width
from dbt_idivm.tools.flowchart.text import in_xml

_MARGIN = 24.0
_CAP, _FRAME = 5.0, 3.5  # half the height of a cylinder's end; the distance between two frames
_SAMPLE, _SPACE, _BELOW = 26.0, 8.0, 44.0  # of the legend
_BASELINE = 0.35  # as a fraction of the font size: from the middle of a line down to its baseline
_NOTHING = "No model of the project has `materialized: idivm`."
_CLASS = "flowchart"  # class of the drawing; all rules start with it, so that they do not affect the rest of a page
_STYLE = """
.flowchart { color-scheme: light dark }
.flowchart text { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; text-anchor: middle }
.flowchart .legend text { text-anchor: start }
.flowchart .edge { fill: none; stroke-width: 1.2 }
.flowchart .edge:hover { stroke-width: 3 }
.flowchart .rebuilt .shape { stroke-dasharray: 5 3 }
.flowchart a:hover .shape, .flowchart a:focus .shape { stroke-width: 3 }
.flowchart .paper { fill: #ffffff }
.flowchart text { fill: #1f2328 } .flowchart .how { fill: #57606a }
.flowchart .edge { stroke: #8c959f } .flowchart .head { fill: #8c959f }
.flowchart .table .shape { fill: #ddf4ff; stroke: #0969da } .flowchart .model .shape { fill: #dafbe1; stroke: #1a7f37 }
.flowchart .rebuilt .shape { fill: #fff8c5; stroke: #9a6700 } .flowchart .cache .shape { fill: #fbefff; stroke: #8250df }
@media (prefers-color-scheme: dark) {
.flowchart .paper { fill: #0d1117 }
.flowchart text { fill: #e6edf3 } .flowchart .how { fill: #9da7b3 }
.flowchart .edge { stroke: #6e7681 } .flowchart .head { fill: #6e7681 }
.flowchart .table .shape { fill: #0c2d4d; stroke: #58a6ff } .flowchart .model .shape { fill: #0f2e1a; stroke: #3fb950 }
.flowchart .rebuilt .shape { fill: #2e2405; stroke: #d29922 } .flowchart .cache .shape { fill: #271a45; stroke: #a371f7 }
}
"""


def svg(graph: Graph) -> str:
    """The text of an SVG file. It depends only on the graph."""
    root = _drawing(graph, {})
    root.set("xmlns", "http://www.w3.org/2000/svg")
    return _text_of(root)


def inline_svg(graph: Graph, links: Mapping[str, str]) -> str:
    """The drawing as an element of an HTML page. `links`: name of a node → target of its box's link."""
    return _text_of(_drawing(graph, links))


def _text_of(root: ET.Element) -> str:
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def _drawing(graph: Graph, links: Mapping[str, str]) -> ET.Element:
    drawn = _moved(layout(graph), _MARGIN, _MARGIN + _BELOW)
    root = ET.Element("svg", {"class": _CLASS})
    ET.SubElement(root, "style").text = _STYLE
    _arrow_head(ET.SubElement(root, "defs"))
    ET.SubElement(root, "rect", {"class": "paper", "width": "100%", "height": "100%"})
    legend = _legend(root, [kind for kind in Kind if any(node.kind is kind for node in graph.nodes)])
    edges, nodes = (ET.SubElement(root, "g", {"class": name}) for name in ("edges", "nodes"))
    for (of, to), way in zip(graph.edges, drawn.ways, strict=True):
        path = ET.SubElement(edges, "path", {"class": "edge", "d": _way(way), "marker-end": f"url(#{_CLASS}-head)"})
        _title(path, f"{graph.nodes[of].lines[0]} → {graph.nodes[to].lines[0]}")
    for node, label, box in zip(graph.nodes, drawn.labels, drawn.boxes, strict=True):
        _node(nodes, node, label, box, links.get(node.name))
    width, height = max(drawn.width, legend) + _MARGIN, drawn.height + _MARGIN
    root.attrib |= {"width": _number(width), "height": _number(height), "viewBox": f"0 0 {_number(width)} {_number(height)}"}
    return root


def _moved(drawn: Layout, right: float, down: float) -> Layout:
    def moved(box: Box) -> Box:
        return replace(box, x=box.x + right, y=box.y + down)

    return Layout(
        tuple(map(moved, drawn.boxes)),
        drawn.labels,
        tuple(tuple(map(moved, way)) for way in drawn.ways),
        drawn.width + right,
        drawn.height + down,
    )


def _arrow_head(defs: ET.Element) -> None:
    marker = ET.SubElement(
        defs,
        "marker",
        {
            "id": f"{_CLASS}-head",
            "viewBox": "0 0 8 8",
            "refX": "8",
            "refY": "4",
            "markerWidth": "8",
            "markerHeight": "8",
            "markerUnits": "userSpaceOnUse",
            "orient": "auto",
        },
    )
    ET.SubElement(marker, "path", {"class": "head", "d": "M0 0.5L8 4L0 7.5Z"})


def _legend(root: ET.Element, kinds: Sequence[Kind]) -> float:
    """Draw the legend of the shapes that occur. Returns the x coordinate of its right end."""
    legend, right = ET.SubElement(root, "g", {"class": "legend"}), _MARGIN
    if not kinds:
        _text(legend, _NOTHING, right, _MARGIN, NAME)
        return right + text_width(_NOTHING, NAME)
    for kind in kinds:
        sample = Box(right, _MARGIN - LINE / 2, _SAMPLE, LINE)
        group = ET.SubElement(legend, "g", {"class": _class(kind)})
        _shape(group, kind, sample)
        _text(group, kind.value, right + _SAMPLE + _SPACE, sample.middle, NAME)
        right += _SAMPLE + _SPACE + text_width(kind.value, NAME) + 3 * _SPACE
    return right - 3 * _SPACE


def _node(nodes: ET.Element, node: Node, label: Sequence[str], box: Box, link: str | None) -> None:
    group = ET.SubElement(nodes, "g", {"class": _class(node.kind)})
    if link is not None:
        group = ET.SubElement(group, "a", {"href": link})
    _title(group, f"{node.name}\n{node.about}" if node.about else node.name)
    _shape(group, node.kind, box)
    first = box.middle - LINE * (len(label) - 1) / 2 + (_CAP / 2 if node.kind is Kind.TABLE else 0)
    for line, text in enumerate(label):
        _text(group, text, box.x + box.width / 2, first + LINE * line, font_size(line), "how" if line else "name")


def _shape(group: ET.Element, kind: Kind, box: Box) -> None:
    """Draw the shape around a label, within the box."""
    if kind is Kind.TABLE:
        half, cap = _number(box.width / 2), _number(_CAP)
        left, middle, right = (_number(box.x + box.width * part) for part in (0, 0.5, 1))
        top, bottom = _number(box.y + _CAP), _number(box.y + box.height - _CAP)
        ET.SubElement(group, "path", {"class": "shape", "d": f"M{left} {top}V{bottom}A{half} {cap} 0 0 0 {right} {bottom}V{top}"})
        ET.SubElement(group, "ellipse", {"class": "shape", "cx": middle, "cy": top, "rx": half, "ry": cap})
        return
    _rectangle(group, box, "0" if kind is Kind.CACHE else "4")
    if kind is Kind.CACHE:
        inner = Box(box.x + _FRAME, box.y + _FRAME, box.width - 2 * _FRAME, box.height - 2 * _FRAME)
        _rectangle(group, inner, "0")


def _rectangle(group: ET.Element, box: Box, radius: str) -> None:
    ET.SubElement(
        group,
        "rect",
        {
            "class": "shape",
            "x": _number(box.x),
            "y": _number(box.y),
            "width": _number(box.width),
            "height": _number(box.height),
            "rx": radius,
        },
    )


def _way(way: Sequence[Box]) -> str:
    """The path of an edge: curves between columns, straight lines through them."""
    first = way[0]
    parts = [f"M{_number(first.x + first.width)} {_number(first.middle)}"]
    for one, other in pairwise(way):
        start, end = one.x + one.width, other.x
        # an edge that closes a cycle leads back, but leaves its node on the right side like the others
        reach = (end - start) / 2 if end > start else _MARGIN * 2
        parts.append(
            f"C{_number(start + reach)} {_number(one.middle)} {_number(end - reach)} {_number(other.middle)} "
            f"{_number(end)} {_number(other.middle)}"
        )
        if other is not way[-1]:
            parts.append(f"H{_number(other.x + other.width)}")
    return "".join(parts)


def _text(group: ET.Element, text: str, x: float, middle: float, size: int, kind: str = "name") -> None:
    found = ET.SubElement(
        group, "text", {"class": kind, "x": _number(x), "y": _number(middle + _BASELINE * size), "font-size": str(size)}
    )
    found.text = in_xml(text)


def _title(group: ET.Element, text: str) -> None:
    """Add a tooltip."""
    ET.SubElement(group, "title").text = in_xml(text)


def _class(kind: Kind) -> str:
    return kind.name.lower()


def _number(value: float) -> str:
    return f"{round(value, 1):.10g}"

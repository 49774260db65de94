"""The graph of a flowchart, and how it is written."""

from __future__ import annotations

import random
import re
from itertools import combinations, pairwise
from time import perf_counter
from xml.etree import ElementTree as ET

import pytest

from dbt_idivm.tools.flowchart.columns import Columns, columns_of
from dbt_idivm.tools.flowchart.crossings import crossings, neighbours, with_few_crossings
from dbt_idivm.tools.flowchart.graph import Graph, Kind, Node
from dbt_idivm.tools.flowchart.heights import heights_of
from dbt_idivm.tools.flowchart.layout import Box, font_size, layout, text_width
from dbt_idivm.tools.flowchart.mermaid import mermaid
from dbt_idivm.tools.flowchart.svg import inline_svg, svg

ORDERS = Node(Kind.TABLE, "raw.orders", ("orders",))
TOTALS = Node(Kind.CACHE, "main.idivm_cache_3f2a_orders", ("cache of orders",))
SALES = Node(Kind.MODEL, "model.p.sales", ("sales", "by i-diffs"), "by i-diffs")
DRAWN = Node(Kind.REBUILT, "model.p.drawn", ("drawn", "IDIVM-204"), "IDIVM-204 rand() inside a SELECT")
GRAPH = Graph((DRAWN, SALES, TOTALS, ORDERS), ((3, 2), (2, 1), (3, 1), (3, 0)))


def test_mermaid() -> None:
    """A node comes before the first edge that needs it."""
    assert mermaid(GRAPH).splitlines() == [
        "flowchart LR",
        '  n1["drawn<br>IDIVM-204"]',
        '  n2["sales<br>by i-diffs"]',
        '  n3[["cache of orders"]]',
        '  n4[("orders")]',
        "  n4 --> n3",
        "  n3 --> n2",
        "  n4 --> n2",
        "  n4 --> n1",
        "  classDef rebuilt stroke-dasharray: 4",
        "  class n1 rebuilt",
    ]


def test_mermaid_writes_nodes_where_they_are_needed() -> None:
    """And at the end those that nothing needs. Without rebuilt models there is no class."""
    alone = Node(Kind.MODEL, "model.p.alone", ('a"<b>#',))
    assert mermaid(Graph((SALES, ORDERS, alone), ((1, 0),))).splitlines() == [
        "flowchart LR",
        '  n1["sales<br>by i-diffs"]',
        '  n2[("orders")]',
        "  n2 --> n1",
        '  n3["a#quot;#lt;b#gt;#35;"]',
    ]
    assert mermaid(Graph()) == "flowchart LR"


def drawn_at_random(seed: int, count: int = 40, each_reads: int = 3) -> Graph:
    """Nodes of all kinds, each of which reads some of those before it; their order in the graph is another one."""
    draw = random.Random(seed)
    order = draw.sample(range(count), count)
    edges = {(order[draw.randrange(at)], order[at]): None for at in range(1, count) for _ in range(draw.randint(0, each_reads))}
    kinds = [draw.choice(list(Kind)) for _ in range(count)]
    names = ["n" * draw.randint(1, 60) for _ in range(count)]
    return Graph(
        tuple(
            Node(kind, f"{at}.{name}", (name, "how")[: draw.randint(1, 2)])
            for at, (kind, name) in enumerate(zip(kinds, names, strict=True))
        ),
        tuple(edges),
    )


RANDOM = [drawn_at_random(seed) for seed in range(8)]


def column_of(found: Columns) -> dict[int, int]:
    return {each: at for at, members in enumerate(found.columns) for each in members}


@pytest.mark.parametrize("graph", RANDOM)
def test_every_edge_leads_to_the_right(graph: Graph) -> None:
    """Column by column: a longer one has a bend in each column between."""
    found = columns_of(len(graph.nodes), graph.edges)
    column = column_of(found)
    assert sorted(each for each in column if each < len(graph.nodes)) == list(range(len(graph.nodes)))
    assert [(route[0], route[-1]) for route in found.routes] == list(graph.edges)
    assert all(column[to] == column[of] + 1 for route in found.routes for of, to in pairwise(route))


def test_a_column_is_the_longest_path_and_tables_are_beside_their_readers() -> None:
    found = columns_of(6, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 3)])
    assert column_of(found) == {0: 0, 1: 1, 6: 1, 2: 2, 4: 2, 3: 3, 5: 0}
    assert found.routes == ((0, 1), (1, 2), (0, 6, 2), (2, 3), (4, 3))


def test_edges_of_one_node_share_their_bends() -> None:
    found = columns_of(5, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 4), (2, 4)])
    assert found.routes[3:5] == ((0, 5, 6, 3), (0, 5, 6, 4))


def test_circles_are_drawn() -> None:
    """One edge of each leads back; what is behind the circle is on its right. A model may read itself."""
    edges = [(0, 1), (2, 3), (3, 4), (4, 2), (3, 1), (5, 5)]
    found = columns_of(6, edges)
    column = column_of(found)
    back = [(of, to) for of, to in edges if column[of] >= column[to]]
    assert len(back) == 2 and (5, 5) in back and back[0] in {(2, 3), (3, 4), (4, 2)}
    graph = Graph(tuple(Node(Kind.MODEL, str(at), (str(at),)) for at in range(6)), tuple(edges))
    assert len(ET.fromstring(svg(graph)).findall(".//*[@class='edge']")) == len(edges)


@pytest.mark.parametrize("graph", RANDOM)
def test_crossings_are_counted(graph: Graph) -> None:
    found = columns_of(len(graph.nodes), graph.edges)
    _, right = neighbours(found)
    place = {each: at for members in found.columns for at, each in enumerate(members)}
    expected = sum(
        (place[of] - place[other]) * (place[to] - place[end]) < 0
        for members in found.columns
        for of, other in combinations(members, 2)
        for to in right[of]
        for end in right[other]
    )
    assert crossings(found.columns, right) == expected > 0


@pytest.mark.parametrize("graph", RANDOM)
def test_an_order_has_few_crossings(graph: Graph) -> None:
    """The same nodes in each column, and a third less than in the order of the graph."""
    found = columns_of(len(graph.nodes), graph.edges)
    ordered = with_few_crossings(found)
    assert [set(each) for each in ordered.columns] == [set(each) for each in found.columns] and ordered.routes == found.routes
    _, right = neighbours(found)
    assert crossings(ordered.columns, right) <= crossings(found.columns, right) * 2 / 3


def test_no_crossings_where_none_are_needed() -> None:
    """Two trees whose nodes alternate."""
    edges = [(0, 2), (1, 3), (0, 4), (1, 5), (2, 6), (3, 7), (4, 8), (5, 9)]
    found = with_few_crossings(columns_of(10, edges))
    assert crossings(found.columns, neighbours(found)[1]) == 0


def test_heights_are_near_to_neighbours() -> None:
    """A chain is a straight line; of two readers one is above and one below."""
    chain = heights_of(columns_of(3, [(0, 1), (1, 2)]), lambda _: 10)
    assert set(chain.values()) == {5}
    fork = heights_of(columns_of(3, [(0, 1), (0, 2)]), lambda _: 10)
    assert fork == pytest.approx({0: 10, 1: 5, 2: 15})


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@pytest.mark.parametrize("graph", RANDOM)
def test_boxes_do_not_overlap(graph: Graph) -> None:
    drawn = layout(graph)
    assert not [pair for pair in combinations(drawn.boxes, 2) if overlap(*pair)]
    assert all(
        box.x >= 0 and box.y >= 0 and box.x + box.width <= drawn.width and box.y + box.height <= drawn.height
        for box in drawn.boxes
    )


@pytest.mark.parametrize("graph", RANDOM)
def test_edges_pass_between_boxes(graph: Graph) -> None:
    """A bend, which is as wide as its column, touches no box; curves are between columns."""
    drawn = layout(graph)
    bends = {bend for way in drawn.ways for bend in way[1:-1]}
    assert bends and not [(bend, box) for bend in bends for box in drawn.boxes if overlap(bend, box)]
    assert all(one.x + one.width < other.x for way in drawn.ways for one, other in pairwise(way))


def test_bends_are_apart() -> None:
    """Four nodes are read at both ends of a chain, which their edges pass along."""
    edges = [*((of, to) for of in range(4) for to in (4, 9)), *pairwise(range(4, 10))]
    drawn = layout(Graph(tuple(Node(Kind.MODEL, str(at), (str(at),)) for at in range(10)), tuple(edges)))
    bends = {bend for way in drawn.ways for bend in way[1:-1]}
    assert len(bends) == 4 * 5
    assert min(abs(one.y - other.y) for one, other in combinations(bends, 2) if one.x == other.x) > 10


@pytest.mark.parametrize("name", ["n" * 200, "注文" * 50, "short"])
def test_labels_fit_into_their_boxes(name: str) -> None:
    """And are shortened only where they do not: the tooltip has all."""
    graph = Graph((Node(Kind.MODEL, f"model.p.{name}", (name, "how " * 40), "how " * 40),))
    drawn = layout(graph)
    assert all(text_width(text, font_size(line)) < drawn.boxes[0].width for line, text in enumerate(drawn.labels[0]))
    assert [text.endswith("…") for text in drawn.labels[0]] == [name != "short", True]
    assert titles(svg(graph)) == [f"model.p.{name}\n{'how ' * 40}"]


SVG = "{http://www.w3.org/2000/svg}"


def titles(text: str) -> list[str]:
    return [found.text or "" for found in ET.fromstring(text).findall(f".//{SVG}g[@class='nodes']/{SVG}g/{SVG}title")]


def test_each_kind_has_its_shape() -> None:
    root = ET.fromstring(svg(GRAPH))
    nodes = {
        group.get("class"): [part.tag.removeprefix(SVG) for part in group if part.get("class") == "shape"]
        for group in root.findall(f".//{SVG}g[@class='nodes']/{SVG}g")
    }
    assert nodes == {"table": ["path", "ellipse"], "model": ["rect"], "rebuilt": ["rect"], "cache": ["rect", "rect"]}
    assert titles(svg(GRAPH)) == [
        "model.p.drawn\nIDIVM-204 rand() inside a SELECT",
        "model.p.sales\nby i-diffs",
        "main.idivm_cache_3f2a_orders",
        "raw.orders",
    ]
    edges = [path.findtext(f"{SVG}title") for path in root.findall(f".//{SVG}path[@class='edge']")]
    assert edges == ["orders → cache of orders", "cache of orders → sales", "orders → sales", "orders → drawn"]
    legend = [text.text for text in root.findall(f".//{SVG}g[@class='legend']//{SVG}text")]
    assert legend == [kind.value for kind in Kind]


def test_both_modes_have_colours_of_everything() -> None:
    style = ET.fromstring(svg(GRAPH)).findtext(f"{SVG}style") or ""
    light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
    coloured = re.compile(r"([^{}\n]+?) \{ [^{}]*#[0-9a-f]{6}[^{}]*\}")
    assert [each.strip() for each in coloured.findall(light)] == [each.strip() for each in coloured.findall(dark)]
    assert {f".flowchart .{kind.name.lower()} .shape" for kind in Kind} < {each.strip() for each in coloured.findall(dark)}


def test_names_are_escaped() -> None:
    """Also what XML cannot hold: control characters, and halves of characters."""
    name = 'a<b>&"c"]]>\'\x00\x1b\ud800'
    text = svg(Graph((Node(Kind.TABLE, name, (name,)), SALES), ((0, 1),)))
    shown = name[:-3] + "\ufffd" * 3
    assert titles(text)[0] == shown
    assert shown in [found.text for found in ET.fromstring(text.encode()).iter(f"{SVG}text")]


def test_a_drawing_for_a_page() -> None:
    """It has links instead of a namespace, and its style is for nothing else on the page."""
    text = inline_svg(GRAPH, {SALES.name: "#sales", DRAWN.name: '#"<'})
    root = ET.fromstring(text)
    assert [found.get("href") for found in root.iter("a")] == ['#"<', "#sales"] and "xmlns" not in text
    assert root.get("class") == "flowchart"
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", (root.findtext("style") or "").replace("@media (prefers-color-scheme: dark) {", ""))
    assert len(rules) > 20
    assert all(part.strip().startswith(".flowchart") for each in rules if each.strip() for part in each.split(","))


def test_nothing_to_draw() -> None:
    root = ET.fromstring(svg(Graph()))
    assert [found.text for found in root.iter(f"{SVG}text")] == ["No model of the project has `materialized: idivm`."]
    assert float(root.get("width", "")) > 300


def test_a_drawing_depends_on_the_graph_alone() -> None:
    assert svg(drawn_at_random(3)) == svg(drawn_at_random(3))


def test_everything_is_on_the_page() -> None:
    for graph in (*RANDOM, GRAPH):
        root = ET.fromstring(svg(graph))
        width, height = float(root.get("width", "")), float(root.get("height", ""))
        assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
        for box in root.findall(f".//{SVG}rect[@class='shape']"):
            x, y, wide, high = (float(box.get(name, "")) for name in ("x", "y", "width", "height"))
            assert min(x, y, width - x - wide, height - y - high) > 0


def test_a_large_project_is_drawn_at_once() -> None:
    """A tenth of a second on a common machine."""
    graph = drawn_at_random(1, 300)
    start = perf_counter()
    svg(graph)
    assert perf_counter() - start < 2

"""The graph of a flowchart, and how it is written."""

from __future__ import annotations

from dbt_idivm.flowchart.graph import Graph, Kind, Node
from dbt_idivm.flowchart.mermaid import mermaid

ORDERS = Node(Kind.TABLE, "raw.orders", ("orders",))
TOTALS = Node(Kind.CACHE, "main.idivm_cache_3f2a_orders", ("cache of orders",))
SALES = Node(Kind.MODEL, "model.p.sales", ("sales", "by i-diffs"), "by i-diffs")
DRAWN = Node(Kind.REBUILT, "model.p.drawn", ("drawn", "IDIVM-204"), "IDIVM-204 rand() inside a SELECT")
GRAPH = Graph((DRAWN, SALES, TOTALS, ORDERS), ((3, 2), (2, 1), (3, 1), (3, 0)))


def test_mermaid() -> None:
    """A node comes before the first edge that needs it."""
    assert mermaid(GRAPH).splitlines() == [
        "flowchart LR", '  n1["drawn<br>IDIVM-204"]', '  n2["sales<br>by i-diffs"]', '  n3[["cache of orders"]]',
        '  n4[("orders")]', "  n4 --> n3", "  n3 --> n2", "  n4 --> n2", "  n4 --> n1",
        "  classDef rebuilt stroke-dasharray: 4", "  class n1 rebuilt"]


def test_mermaid_writes_nodes_where_they_are_needed() -> None:
    """And at the end those that nothing needs. Without rebuilt models there is no class."""
    alone = Node(Kind.MODEL, "model.p.alone", ('a"<b>#',))
    assert mermaid(Graph((SALES, ORDERS, alone), ((1, 0),))).splitlines() == [
        "flowchart LR", '  n1["sales<br>by i-diffs"]', '  n2[("orders")]', "  n2 --> n1", '  n3["a#quot;#lt;b#gt;#35;"]']
    assert mermaid(Graph()) == "flowchart LR"

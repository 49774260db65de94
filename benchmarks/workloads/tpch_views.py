"""Thirty views over TPC-H's tables, in three layers, that have much in common: what models of one project share.

The first ten are those of Mistry et al. (2001, §7), five joins and five aggregates, whose selections differ; `view_selection.py`
has them as estimates. Ten are over these, and ten over those. Rows are only inserted, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.workload import Change, Query, Step, Workload
from benchmarks.workloads import tpch

NOT_BY_HAND = {"dbt_incremental": "rows change in groups and joins of several tables: no simple MERGE is exact"}
LINES_OF_ORDERS = "from orders join lineitem on l_orderkey = o_orderkey join customer on c_custkey = o_custkey"
ASIAN_SUPPLY = (
    "from partsupp join part on p_partkey = ps_partkey join supplier on s_suppkey = ps_suppkey "
    "join nation on n_nationkey = s_nationkey join region on r_regionkey = n_regionkey where r_name = 'ASIA'"
)
REVENUE = "sum(l_extendedprice * (1 - l_discount)) as revenue"

# name → (SELECT, the columns that identify its rows)
PAPER: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "v1": (
        "select l_orderkey, l_linenumber, o_custkey, o_orderdate, c_name, l_extendedprice, l_discount "
        f"{LINES_OF_ORDERS} where c_mktsegment = 'BUILDING' and o_orderdate < date '1995-01-01'",
        ("l_orderkey", "l_linenumber"),
    ),
    "v2": (
        "select l_orderkey, l_linenumber, o_custkey, c_name, n_name, l_extendedprice, l_discount "
        f"{LINES_OF_ORDERS} join nation on n_nationkey = c_nationkey where l_returnflag = 'R'",
        ("l_orderkey", "l_linenumber"),
    ),
    "v3": (
        "select l_orderkey, l_linenumber, o_orderdate, s_suppkey, s_name, l_extendedprice, l_discount from lineitem "
        "join orders on o_orderkey = l_orderkey join supplier on s_suppkey = l_suppkey where o_orderstatus = 'F'",
        ("l_orderkey", "l_linenumber"),
    ),
    "v4": (
        f"select ps_partkey, ps_suppkey, p_name, s_name, n_name, ps_availqty, ps_supplycost {ASIAN_SUPPLY} and p_size = 15",
        ("ps_partkey", "ps_suppkey"),
    ),
    "v5": (
        "select l_orderkey, l_linenumber, l_shipdate, l_quantity, p_partkey, p_type from lineitem "
        "join part on p_partkey = l_partkey where p_brand = 'Brand#12'",
        ("l_orderkey", "l_linenumber"),
    ),
    "v6": (
        f"select o_orderpriority, {REVENUE}, count(*) as n {LINES_OF_ORDERS} where c_mktsegment = 'BUILDING' "
        "group by o_orderpriority",
        ("o_orderpriority",),
    ),
    "v7": (
        f"select n_name, year(o_orderdate) as o_year, {REVENUE}, count(*) as n {LINES_OF_ORDERS} "
        "join nation on n_nationkey = c_nationkey group by n_name, year(o_orderdate)",
        ("n_name", "o_year"),
    ),
    "v8": (
        f"select n_name, {REVENUE} from lineitem join orders on o_orderkey = l_orderkey "
        "join supplier on s_suppkey = l_suppkey join nation on n_nationkey = s_nationkey "
        "where o_orderdate < date '1995-01-01' group by n_name",
        ("n_name",),
    ),
    "v9": (
        f"select p_brand, p_type, sum(ps_availqty) as available, count(*) as n {ASIAN_SUPPLY} group by p_brand, p_type",
        ("p_brand", "p_type"),
    ),
    "v10": (
        "select p_brand, s_suppkey, sum(l_quantity) as quantity, count(*) as n from lineitem "
        "join part on p_partkey = l_partkey join supplier on s_suppkey = l_suppkey group by p_brand, s_suppkey",
        ("p_brand", "s_suppkey"),
    ),
}
SECOND: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "m11": (f"select o_custkey, c_name, {REVENUE} from $lane.v1 group by o_custkey, c_name", ("o_custkey", "c_name")),
    "m12": (f"select n_name, {REVENUE}, count(*) as n from $lane.v2 group by n_name", ("n_name",)),
    "m13": (f"select o_custkey, {REVENUE}, count(*) as n from $lane.v2 group by o_custkey", ("o_custkey",)),
    "m14": (f"select s_suppkey, s_name, {REVENUE} from $lane.v3 group by s_suppkey, s_name", ("s_suppkey", "s_name")),
    "m15": (
        "select n_name, sum(ps_availqty) as available, min(ps_supplycost) as cheapest from $lane.v4 group by n_name",
        ("n_name",),
    ),
    "m16": ("select l_shipdate, sum(l_quantity) as quantity, count(*) as n from $lane.v5 group by l_shipdate", ("l_shipdate",)),
    "m17": ("select n_name, sum(revenue) as revenue, sum(n) as n from $lane.v7 group by n_name", ("n_name",)),
    "m18": (
        "select s.n_name, s.revenue as supplied, c.revenue as bought from $lane.v8 s join $lane.m17 c on c.n_name = s.n_name",
        ("n_name",),
    ),
    "m19": ("select p_brand, sum(available) as available, sum(n) as n from $lane.v9 group by p_brand", ("p_brand",)),
    "m20": ("select s_suppkey, count(*) as brands, sum(quantity) as quantity from $lane.v10 group by s_suppkey", ("s_suppkey",)),
}
THIRD: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "m21": ("select o_custkey, c_name, revenue from $lane.m11 where revenue > 300000", ("o_custkey", "c_name")),
    "m22": (
        "select o_custkey, c_name, c_mktsegment, revenue from $lane.m13 join customer on c_custkey = o_custkey "
        "where revenue > 100000",
        ("o_custkey",),
    ),
    "m23": (
        "select m.s_suppkey, m.s_name, n_name, revenue from $lane.m14 m join supplier s on s.s_suppkey = m.s_suppkey "
        "join nation on n_nationkey = s_nationkey",
        ("s_suppkey", "s_name"),
    ),
    "m24": (
        "select a.n_name, a.revenue as returned, b.revenue as bought from $lane.m12 a join $lane.m17 b on b.n_name = a.n_name",
        ("n_name",),
    ),
    "m25": (
        "select year(l_shipdate) as ship_year, sum(quantity) as quantity from $lane.m16 group by year(l_shipdate)",
        ("ship_year",),
    ),
    "m26": (
        "select m.s_suppkey, quantity, brands, revenue from $lane.m20 m join $lane.m14 n on n.s_suppkey = m.s_suppkey",
        ("s_suppkey",),
    ),
    "m27": (
        "select a.p_brand, a.available, sum(b.quantity) as sold from $lane.m19 a join $lane.v10 b on b.p_brand = a.p_brand "
        "group by a.p_brand, a.available",
        ("p_brand", "available"),
    ),
    "m28": (
        "select n_name, s_suppkey, s_name, rank() over (partition by n_name order by revenue desc) as place from $lane.m23",
        ("s_suppkey", "s_name"),
    ),
    "m29": ("select n_name, revenue from $lane.m17 where revenue > 1000", ("n_name",)),
    "m30": (
        "select 'returned' as kind, n_name, revenue from $lane.m12 union all select 'supplied', n_name, supplied from $lane.m18",
        ("kind", "n_name"),
    ),
}


def workload(scale: float = 1.0) -> Workload:
    """`scale` is TPC-H's scale factor."""
    return replace(
        tpch.workload(scale),
        queries=tuple(
            Query(name, _qualified(sql), key, without=NOT_BY_HAND) for name, (sql, key) in {**PAPER, **SECOND, **THIRD}.items()
        ),
        changes=(Change("loads", "orders", _loads), Change("inserts", "orders", _inserts)),
    )


def _qualified(sql: str) -> str:
    """`$lane` is no name of a schema, so it is one for as long as the query is read."""
    return tpch.qualified(sql.replace("$lane.", "lane.")).replace(" lane.", " $lane.")


def _loads(step: Step) -> Sequence[str]:
    """Orders with their lines."""
    return tuple(tpch.copies(table, key, step) for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")))


def _inserts(step: Step) -> Sequence[str]:
    """The same share of all tables but nations and regions."""
    keys = {"customer": "c_custkey", "supplier": "s_suppkey", "part": "p_partkey", "partsupp": "ps_partkey"}
    return (*_loads(step), *(tpch.copies(table, key, step) for table, key in keys.items()))

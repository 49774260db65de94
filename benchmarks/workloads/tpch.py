"""TPC-H: eight tables from `tpchgen-cli`, 22 queries without ORDER BY and LIMIT, the refresh functions, and changed dimensions.

The queries are in `tpch_queries.py`. What dbt-idivm does not maintain yet it rebuilds: its lanes then show that.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from benchmarks.workload import Change, Query, Step, Table, Workload
from benchmarks.workloads.tpch_queries import QUERIES, TABLES
from dbt_idivm.script.dialect import DELTA

SCHEMA = "tpch"
NAMES = frozenset(table.name for table in TABLES)
# Output columns that identify the rows of each query; none for those that have one row.
KEYS: Mapping[str, tuple[str, ...]] = {
    "q1": ("l_returnflag", "l_linestatus"),
    "q2": ("p_partkey", "s_name"),
    "q3": ("l_orderkey",),
    "q4": ("o_orderpriority",),
    "q5": ("n_name",),
    "q6": (),
    "q7": ("supp_nation", "cust_nation", "l_year"),
    "q8": ("o_year",),
    "q9": ("nation", "o_year"),
    "q10": ("c_custkey",),
    "q11": ("ps_partkey",),
    "q12": ("l_shipmode",),
    "q13": ("c_count",),
    "q14": (),
    "q15": ("s_suppkey",),
    "q16": ("p_brand", "p_type", "p_size"),
    "q17": (),
    "q18": ("o_orderkey",),
    "q19": (),
    "q20": ("s_name",),
    "q21": ("s_name",),
    "q22": ("cntrycode",),
}
ONLY_ROW = "only_row"
NEW_KEYS = 10**9  # those of copied orders are above, step by step
NOT_BY_HAND = {"dbt_incremental": "orders are deleted, and TPC-H has no column that says when a row was loaded"}


def workload(scale: float = 1.0) -> Workload:
    """`scale` is TPC-H's scale factor."""
    return Workload(
        name=SCHEMA,
        tables=tuple(Table(table.name, f"select {', '.join(table.names)} from tpch_{table.name}", table.key) for table in TABLES),
        queries=tuple(_query(name, sql) for name, sql in QUERIES.items()),
        changes=(
            Change("refresh", "orders", refresh_functions),
            Change("dimensions", "customer", dimensions),
            Change("everything", "orders", lambda step: (*refresh_functions(step), *dimensions(step), *_nations(step))),
        ),
        prepare=lambda session, folder: generate(session, folder / SCHEMA, scale),
    )


def generate(session: Any, folder: Path, scale: float) -> None:
    """Write the tables as Parquet files and make a temporary view `tpch_<table>` of each."""
    program = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or "tpchgen-cli"
    subprocess.run(
        [program, "parquet", "--scale-factor", f"{scale:g}", "--overwrite", "--output-dir", str(folder)],
        check=True,
        capture_output=True,
    )
    for name in NAMES:
        session.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(f"tpch_{name}")


def _query(name: str, sql: str) -> Query:
    text = qualified(sql)
    key = KEYS[name]
    extended = None if key else f"select 1 as {ONLY_ROW}, only.* from ({text}) only"
    return Query(name, text, key or (ONLY_ROW,), extended, without=NOT_BY_HAND)


def qualified(sql: str) -> str:
    """The query with the schema of TPC-H's tables."""
    tree = sqlglot.parse_one(sql, dialect=DELTA.name)
    for table in tree.find_all(exp.Table):
        if table.name in NAMES:
            table.set("db", exp.to_identifier(SCHEMA))
    return DELTA.sql(tree)


def refresh_functions(step: Step) -> Sequence[str]:
    """RF1 and RF2: half of the changed orders are new, half are deleted, with their lines. A new one is a copy of an old one."""
    return tuple(
        text
        for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey"))
        for text in (
            f"insert into tpch.{table} select {_copied(table, key, step.number)} from tpch.{table} "
            f"where {_chosen(step, key, 'new')}",
            f"delete from tpch.{table} where {_chosen(step, key, 'deleted')}",
        )
    )


def copies(table: str, key: str, step: Step) -> str:
    """Insert a copy of one row in `step.every` of the first load, under a new key."""
    return (
        f"insert into tpch.{table} select {_copied(table, key, step.number)} from tpch.{table} "
        f"where {key} < {NEW_KEYS} and pmod(xxhash64({key}, {step.number}), {step.every}) = 0"
    )


def _copied(table: str, key: str, number: int) -> str:
    (found,) = (each for each in TABLES if each.name == table)
    return ", ".join(f"{name} + {number * NEW_KEYS}" if name == key else name for name in found.names)


def _chosen(step: Step, key: str, why: str) -> str:
    """Orders of the first load, of another remainder for each step; the same for orders and their lines."""
    return f"{key} < {NEW_KEYS} and pmod(xxhash64({key}, {step.number}, '{why}'), {2 * step.every}) = 0"


def dimensions(step: Step) -> Sequence[str]:
    """The same share of customers, suppliers, parts and supplies have other properties, some of them in conditions."""

    def some(key: str) -> str:
        return f"where pmod(xxhash64({key}, {step.number}), {step.every}) = 0"

    return (
        f"""update tpch.customer set c_acctbal = c_acctbal + 1, c_nationkey = pmod(c_nationkey + 1, 25),
            c_mktsegment = if(c_mktsegment = 'BUILDING', 'MACHINERY', 'BUILDING') {some("c_custkey")}""",
        f"update tpch.supplier set s_acctbal = s_acctbal + 1, s_phone = reverse(s_phone) {some('s_suppkey')}",
        f"update tpch.part set p_retailprice = p_retailprice + 1, p_size = p_size % 50 + 1 {some('p_partkey')}",
        f"update tpch.partsupp set ps_supplycost = ps_supplycost + 1 {some('ps_partkey, ps_suppkey')}",
    )


def _nations(step: Step) -> Sequence[str]:
    return (
        f"update tpch.nation set n_name = 'PERU {step.number}' where n_nationkey = 17",
        f"update tpch.region set r_comment = 'changed {step.number} times' where r_regionkey = 0",
    )

"""TPC-H as the benchmarks have it, over tables of test cases."""

from __future__ import annotations

from benchmarks.workloads.tpch_queries import QUERIES
from benchmarks.workloads.tpch_queries import TABLES as DECLARED
from tests.property.plans import Table

__all__ = ["QUERIES", "TABLES"]

TABLES = tuple(Table(*each) for each in DECLARED)

"""All workloads: name → a function of the scale, and of the workload's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.workload import Workload
from benchmarks.workloads import append_only, bsma, devices_parts, flights, graph, tpch, tpch_views

WORKLOADS: Mapping[str, Callable[..., Workload]] = {
    "devices_parts": devices_parts.workload,
    "flights": flights.workload,
    "append_only": append_only.workload,
    "tpch": tpch.workload,
    "tpch_views": tpch_views.workload,
    "bsma": bsma.workload,
    "graph": graph.workload,
}

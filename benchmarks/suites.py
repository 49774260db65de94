"""What `make bench` and `make bench-full` measure."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.experiment import Experiment
from benchmarks.workload import Amount

BENCH = (
    Experiment("devices_parts", 0.04, (("prices", Amount(percent=0.1)),), queries=("view", "total")),
    Experiment("flights", 1, (("day", Amount()),), lanes=("full", "id", "tuple", "floor")),
)

SUITES: Mapping[str, tuple[Experiment, ...]] = {"bench": BENCH}

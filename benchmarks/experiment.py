"""What one run of the benchmarks measures, and how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.workload import Amount


@dataclass(frozen=True)
class Experiment:
    """What is to be measured. `changes` are applied one after the other to the same tables, each `warmups` + `rounds` times.

    `queries` is empty for all of the workload. `parameters` are the workload's own; `purpose` is the plot that it is for.
    """

    workload: str
    scale: float
    changes: tuple[tuple[str, Amount], ...]
    lanes: tuple[str, ...] = ("full", "dbt_incremental", "tuple", "id", "floor")
    queries: tuple[str, ...] = ()
    rounds: int = 3
    warmups: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    purpose: str = "queries"


class Inexact(Exception):
    """A lane's view differs from its query: the run is void."""

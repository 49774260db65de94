"""The plan of a view: what the planner hands to the refresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dbt_idivm.algebra.operator import Operator
from dbt_idivm.idiff.idiff import IDiff
from dbt_idivm.operators.scan import Scan
from dbt_idivm.passes.infer_ids import scans
from dbt_idivm.passes.operator_caches import AdditiveState
from dbt_idivm.passes.propagate import Firing

# how changes are carried on: as i-diffs, as rows to be evaluated anew, or as whole tuples
Strategy = Literal["id", "recompute", "tuple"]


@dataclass(frozen=True)
class ViewColumn:
    """A column of the stored ID-extended view and the attribute it holds. Hidden ones are not in the user's SELECT."""

    name: str
    attribute: str
    hidden: bool = False


@dataclass(frozen=True)
class Plan:
    """An ID-extended view and its i-diffs, naive and optimised.

    A tuple-based plan has no i-diffs. `additive` is there when the view is a γ whose aggregates can be maintained by adding
    (D4, third way).
    """

    root: Operator
    columns: tuple[ViewColumn, ...]
    base: Mapping[str, tuple[IDiff, ...]]  # occurrence → its base i-diffs
    naive: tuple[IDiff, ...]
    idiffs: tuple[IDiff, ...]
    firings: tuple[Firing, ...]
    additive: AdditiveState | None = None
    strategy: Strategy = "id"

    @property
    def scans(self) -> tuple[Scan, ...]:
        return scans(self.root)

    @property
    def tables(self) -> tuple[str, ...]:
        """The input tables, each once, in reading order."""
        return tuple(dict.fromkeys(scan.table for scan in self.scans))

    @property
    def hidden(self) -> bool:
        """Whether the stored table has columns that the user's relation has not."""
        return any(column.hidden for column in self.columns)

    def stored(self, attribute: str) -> str:
        """The first stored column that holds `attribute`."""
        return next(column.name for column in self.columns if column.attribute == attribute)

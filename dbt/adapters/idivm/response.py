"""The `adapter_response` of an idivm model in run_results.json, and its console message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import AdapterResponse

from dbt_idivm.refresh.protocol import Outcome


@dataclass
class MaintenanceResponse(AdapterResponse):
    mode: str = ""
    reason: str | None = None
    strategy: str | None = None
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    statements: int = 0
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    cost: dict[str, Any] | None = None

    def __post_serialize__(self, data: dict[str, Any], context: dict[str, Any] | None = None) -> dict[str, Any]:
        """Restore the fields that are None and that dbt drops: every response has the same fields."""
        return {**data, "reason": self.reason, "strategy": self.strategy, "cost": self.cost}


def maintenance_response(outcome: Outcome) -> MaintenanceResponse:
    return MaintenanceResponse(
        _message=outcome.message,
        code=outcome.mode,
        rows_affected=outcome.rows_inserted + outcome.rows_updated + outcome.rows_deleted,
        mode=outcome.mode,
        reason=outcome.reason,
        strategy=outcome.strategy,
        rows_inserted=outcome.rows_inserted,
        rows_updated=outcome.rows_updated,
        rows_deleted=outcome.rows_deleted,
        statements=outcome.statements,
        inputs={
            name: {"from": change.from_version, "to": change.to_version, "rows": change.rows}
            for name, change in outcome.inputs.items()
        },
        cost=None
        if outcome.cost is None
        else {
            "chosen": outcome.cost.chosen,
            "estimate": outcome.cost.estimate,
            "actual": outcome.cost.actual,
            "alternatives": dict(outcome.cost.alternatives),
        },
    )

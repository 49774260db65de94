"""The last run of each model, of those that dbt's last command ran: `target/run_results.json`."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from dbt_idivm.report.facts import Refresh, What

_WHAT: Mapping[str, What] = {"create": "created", "full": "rebuilt", "incremental": "incremental", "noop": "nothing changed"}


def last_runs(path: Path, zone: str) -> Mapping[str, Refresh]:
    """Unique ID of a model → its last run, with times in that zone; none where there is no such file, or no result in it.

    The page is worth having without it, so a file that cannot be read is as none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        run = str(found["metadata"].get("invocation_id") or "")
        return {str(each["unique_id"]): last for each in found["results"] if (last := _last(each, run, zone)) is not None}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _last(result: Mapping[str, Any], run: str, zone: str) -> Refresh | None:
    """A refresh that came to an end; a model that was compiled only, or skipped, has none."""
    response = result.get("adapter_response") or {}
    what = _WHAT.get(str(response.get("mode")))
    at, seconds = _completed(result, zone), _number(result.get("execution_time"))
    if result.get("status") in ("error", "fail"):
        return Refresh("failed", at, seconds=seconds, why=_first_line(result.get("message")), run=run)
    if what is None:
        return None
    inserted, updated, deleted = (_count(response.get(f"rows_{done}")) for done in ("inserted", "updated", "deleted"))
    return Refresh(what, at, inserted=inserted, updated=updated, deleted=deleted, seconds=seconds,
                   why=_first_line(response.get("reason")), run=run)


def _completed(result: Mapping[str, Any], zone: str) -> dt.datetime | None:
    times = [each["completed_at"] for each in result.get("timing") or () if each.get("completed_at")]
    return dt.datetime.fromisoformat(times[-1].replace("Z", "+00:00")).astimezone(ZoneInfo(zone)) if times else None


def _first_line(text: Any) -> str:
    return next(iter(str(text or "").strip().splitlines()), "")


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) and value >= 0 else None


def _count(value: Any) -> int | None:
    found = _number(value)
    return None if found is None else int(found)

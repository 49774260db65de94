"""The last run of each model that dbt's last command ran, from `target/run_results.json`."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from dbt_idivm.refresh.catalog.note import seconds
from dbt_idivm.tools.report.facts import Refresh, What

_UNLIKE = (ValueError, TypeError, KeyError, AttributeError)  # raised for JSON that does not have dbt's form
_WHAT: Mapping[str, What] = {
    "create": "created",
    "full": "rebuilt",
    "migrated": "migrated",
    "incremental": "incremental",
    "noop": "nothing changed",
}


def last_runs(path: Path, zone: str) -> Mapping[str, Refresh]:
    """Unique ID → last run of the model, with times in `zone`; empty if the file is missing or has no results.

    The page is useful without it, so an unreadable file or result is treated as missing.
    """
    found: dict[str, Refresh] = {}
    with suppress(OSError, RecursionError, *_UNLIKE):
        read = json.loads(path.read_text(encoding="utf-8"))
        run = str(read["metadata"].get("invocation_id") or "")
        for each in read["results"]:
            with suppress(*_UNLIKE):
                last = _last(each, run, zone)
                if last is not None:
                    found[str(each["unique_id"])] = last
    return found


def _last(result: Mapping[str, Any], run: str, zone: str) -> Refresh | None:
    """A refresh that has finished, successfully or not; None for a model that was only compiled, or skipped."""
    response = result.get("adapter_response") or {}
    what = _WHAT.get(str(response.get("mode")))
    at, took = _completed(result, zone), seconds(result.get("execution_time"))
    if result.get("status") in ("error", "fail"):
        return Refresh("failed", at, seconds=took, why=_first_line(result.get("message")), run=run)
    if what is None:
        return None
    estimate = seconds((response.get("cost") or {}).get("estimate"))
    inserted, updated, deleted = (_count(response.get(f"rows_{done}")) for done in ("inserted", "updated", "deleted"))
    return Refresh(
        what,
        at,
        inserted=inserted,
        updated=updated,
        deleted=deleted,
        seconds=took,
        why=_first_line(response.get("reason")),
        run=run,
        estimate=estimate,
    )


def _completed(result: Mapping[str, Any], zone: str) -> dt.datetime | None:
    times = [each["completed_at"] for each in result.get("timing") or () if each.get("completed_at")]
    if not times:
        return None
    found = dt.datetime.fromisoformat(times[-1])
    return (found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)).astimezone(ZoneInfo(zone))


def _first_line(text: Any) -> str:
    return next(iter(str(text or "").strip().splitlines()), "")


def _count(value: Any) -> int | None:
    found = seconds(value)
    return None if found is None else int(found)

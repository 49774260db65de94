"""How long refreshes really took: the prices in `.idivm/costs.json`, and the last run in `target/run_results.json`.

Both files are optional. Without one, or if it cannot be read, estimates are less accurate. A note reports an unreadable file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from dbt_idivm.cost.experience import VERSION, Experience
from dbt_idivm.cost.experience import read as read_experience
from dbt_idivm.errors import Finding, finding, listed

COSTS = Path(".idivm", "costs.json")
NOTHING_DONE = "noop"


@dataclass(frozen=True)
class Learned:
    """`engine`: the engine that the experience is from; None without experience."""

    experience: Experience = field(default_factory=Experience)
    engine: str | None = None
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Last:
    """The last run of a model. `seconds`: its duration; `estimate`: the duration expected before. `changes`: input → rows of its
    net diff. `rows`: rows of the model, if it was built."""

    mode: str
    seconds: float
    estimate: float | None = None
    changes: Mapping[str, float] | None = None
    rows: float | None = None


def learned(path: Path, engine: str | None = None) -> Learned:
    """The experience with the engine whose name contains `engine`; without a name, with the engine that was used last, which
    the adapter writes at the end."""
    if not path.exists():
        return _ignored(path, f"the file does not exist, so there are no durations of `{engine}`") if engine else Learned()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return _ignored(path, str(error))
    engines = found.get("engines") if isinstance(found, dict) else None
    if not isinstance(engines, dict) or found.get("version") != VERSION:
        return _ignored(path, "its format is not the format of this version")
    name = next((each for each in reversed(engines) if engine is None or engine in each), None)
    if name is None:
        return _ignored(path, f"it has durations of {listed(engines)}, and none of `{engine}`") if engine else Learned()
    experience, is_whole = read_experience(engines[name])
    notes = (
        ()
        if is_whole
        else (finding(118, file=path, problem="some of its figures are neither durations nor prices, and are left out"),)
    )
    return Learned(experience, name, notes)


def _ignored(path: Path, problem: str) -> Learned:
    return Learned(notes=(finding(118, file=path, problem=problem),))


def last_runs(path: Path) -> tuple[Mapping[str, Last], tuple[Finding, ...]]:
    """Unique ID → last run, for the models that dbt's last command ran. Empty after `dbt compile`, which runs nothing."""
    if not path.exists():
        return {}, ()
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        return {str(each["unique_id"]): run for each in results if (run := _run(each)) is not None}, ()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return {}, (finding(118, file=path, problem=f"it is not a file of dbt's results ({type(error).__name__}: {error})"),)


def _run(result: Mapping[str, Any]) -> Last | None:
    """The run in a result of dbt, of any materialization; None if it did nothing or failed."""
    response = result.get("adapter_response") or {}
    if result.get("status") != "success" or not response or not str(result["unique_id"]).startswith("model."):
        return None
    mode, cost = str(response.get("mode") or "built"), response.get("cost") or {}
    seconds = _number(cost.get("actual")) or _number(result.get("execution_time"))
    if mode == NOTHING_DONE or seconds is None:
        return None
    rows = {
        str(name): count
        for name, each in (response.get("inputs") or {}).items()
        if (count := _number(each.get("rows"))) is not None
    }
    built = _number(response.get("rows_inserted")) if mode in ("create", "full") else None
    return Last(mode, seconds, _number(cost.get("estimate")), rows, built)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) and value >= 0 else None

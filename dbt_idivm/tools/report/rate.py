"""How much of a model changes from one refresh to the next, according to its history."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from dbt_idivm.tools.report.facts import Model

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True)
class Rate:
    """`rows`: changed rows of an incremental refresh, averaged over `refreshes`; `share`: as a fraction of all rows; `a_day`:
    changed rows per day, if the history is at least a day long."""

    rows: float
    refreshes: int
    share: float | None = None
    a_day: float | None = None


def rate_of(model: Model) -> Rate | None:
    """The rate; None without an incremental refresh whose number of changed rows is known."""
    refreshes = model.stored.refreshes if model.stored is not None else ()
    counted = [each for each in refreshes if each.what == "incremental" and each.rows is not None]
    if not counted:
        return None
    changed = sum(each.rows or 0 for each in counted)
    rows = changed / len(counted)
    times = [each.at for each in refreshes if each.at is not None]
    span = max(times) - min(times) if times else dt.timedelta(0)
    share = rows / model.size.rows if model.size.rows else None
    return Rate(rows, len(counted), share, changed / (span / _DAY) if span >= _DAY else None)

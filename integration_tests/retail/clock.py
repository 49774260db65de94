"""The clock that models read: it shows the time of the data, so that days pass between batches and windows of days have rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from dbt_idivm.refresh.engine.invocation import Invocation
from retail.world import World

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@contextmanager
def clock_of(world: World) -> Iterator[None]:
    """Within it, refreshes of this process take place at `world.now`. Columns that only say when a row was written, the ages of
    commits and `run_started_at` have the time of the machine. The time is a part of what a view was computed from, so that
    `idivm_equivalent` compares with the query at this time."""
    microsecond = dt.timedelta(microseconds=1)
    with patch.object(Invocation, "time", property(lambda _: (world.now - _EPOCH) // microsecond)):
        yield

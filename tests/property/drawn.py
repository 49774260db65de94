"""Worlds of drawn cases on DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import currently_in_test_context, reject

from dbt_idivm.errors import IdivmError
from tests.property.coverage import RANDOM
from tests.property.harness import Options, World
from tests.property.strategies import Case


@contextmanager
def drawn(case: Case, options: Options) -> Iterator[World]:
    """The world of a case. One that is drawn is rejected where the planner refuses its view, or a script as too long."""
    try:
        with World(case.tables, case.sql, options) as world:
            yield world
    except IdivmError as refusal:
        if not currently_in_test_context() or not refusal.is_refusal:
            raise
        RANDOM.discarded[f"the planner says {', '.join(sorted(set(refusal.codes)))}"] += 1
        reject()

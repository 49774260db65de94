"""Fetching the source of a refresh's MERGE, where it has few rows: these then decide which statement applies them (ADR 0030)."""

from __future__ import annotations

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.bind import BoundScript
from dbt_idivm.script.source_rows import SourceRows


def source_rows(client: Client, script: BoundScript, table: str) -> Steps[SourceRows | None]:
    """The rows of the source of `script`, which brings `table` up to date; None if they cannot be inlined: there are too many, or
    some have no text. What fails here is left to the MERGE to report."""
    if script.source is None:
        return None
    try:
        found = yield from client.read(script.source.query, f"changes of {table}")
    except EngineFailure:
        return None
    return script.source.answered(found.rows)

"""Fetch the source of a refresh's MERGE if it is small: its rows decide which statement applies it (ADR 0030)."""

from __future__ import annotations

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.source_rows import SourceQuery, SourceRows


def fetched_source(client: Client, asked: SourceQuery, label: str) -> Steps[SourceRows | None]:
    """The source rows of a MERGE, or their keys; None if they cannot be inlined: they are too many, or a value has no SQL text.
    Errors are ignored here, because the MERGE will report them."""
    try:
        found = yield from client.read(asked.query, label)
    except EngineFailure:
        return None
    return asked.answered(found.rows)

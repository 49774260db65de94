"""Fetching what a refresh's MERGE has as its source, where that is little: it decides which statement applies it (ADR 0030)."""

from __future__ import annotations

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.source_rows import SourceQuery, SourceRows


def fetched_source(client: Client, asked: SourceQuery, label: str) -> Steps[SourceRows | None]:
    """The rows of the source of a MERGE, or their keys; None if they cannot be inlined: there are too many, or some have no text.
    What fails here is left to the MERGE to report."""
    try:
        found = yield from client.read(asked.query, label)
    except EngineFailure:
        return None
    return asked.answered(found.rows)

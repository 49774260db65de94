"""Fetch rows on which a refresh's statement depends: those of its source, if they are few (ADR 0030), and those that changes
reach."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.found_rows import Ask, find
from dbt_idivm.script.reach import Wanted
from dbt_idivm.script.source_rows import SourceQuery, SourceRows


def fetched_source(client: Client, asked: SourceQuery, label: str) -> Steps[SourceRows | None]:
    """The source rows of a MERGE, or their keys; None if they cannot be inlined: they are too many, or a value has no SQL text.
    Errors are ignored here, because the MERGE will report them."""
    try:
        found = yield from client.read(asked.query, label)
    except EngineFailure:
        return None
    return asked.answered(found.rows)


def reached_rows(client: Client, wanted: Mapping[str, Wanted], binding: Binding) -> Steps[dict[str, SourceRows]]:
    """Table → its rows that changes reach, for those of the tables `wanted` that have few of them. Models of one run ask the same
    question once, if the table has a version in it."""
    search, answer = find(wanted, binding), None
    try:
        while True:
            asked = search.send(answer)
            if asked.table in binding.versions:
                question = ("reached", asked.table, binding.dialect.sql(asked.query.query, pretty=False))
                answer = yield from client.once(question, partial(_reached, client, asked))
            else:
                answer = yield from _reached(client, asked)
    except StopIteration as done:
        found: dict[str, SourceRows] = done.value
        return found


def _reached(client: Client, asked: Ask) -> Steps[SourceRows | None]:
    return (yield from fetched_source(client, asked.query, f"reached rows of {asked.table}"))

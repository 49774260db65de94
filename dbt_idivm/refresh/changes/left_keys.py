"""Keys that rebuilds have left unverified: they are looked up before a refresh relies on them (ADR 0022).

A rebuild needs no keys. The next incremental refresh does, at the versions that the rebuild read: of two rows that had the same
key then, one may be gone by now, and its deletion would delete both from the view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import Finding, finding
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.state import Consumed, State
from dbt_idivm.refresh.changes.moves import Move, move_over
from dbt_idivm.refresh.changes.proving import proved
from dbt_idivm.refresh.changes.read import or_gap
from dbt_idivm.refresh.changes.verify_keys import SAMPLE, repeated_new_key
from dbt_idivm.refresh.checks.keys import KeyedInput, example, lost_key, repeated_at
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps


def verify_left(client: Client, inputs: Sequence[KeyedInput], state: State, verify: str) -> Steps[Finding | None]:
    """Look up the keys inserted between the `unverified` version and the version that the view was built from.

    `verify`: the model's setting. Returns the reason for a rebuild that verifies all keys, if a key did not hold or the changes
    can no longer be read; None if all keys hold.
    """
    for each in inputs:
        name = each.found.name
        if each.key is None or name not in state.unverified or verify == "none":
            continue
        known, read = state.unverified[name], state.inputs[name]
        move = yield from _between(client, known, read)
        rows = state.sizes[known.table].rows if known.table in state.sizes else 0
        values = yield from or_gap(move, _repeated(client, each, each.key, move, rows, SAMPLE if verify == "sample" else None))
        if isinstance(values, Finding):
            return values
        if values is not None and each.key.found:
            return lost_key(name, each.key, move.to_version, values)
        if values is not None:
            return finding(
                419, key=", ".join(each.key.columns), source=name, version=move.to_version, example=example(each.key, values)
            )
    return None


def _between(client: Client, known: Consumed, read: Consumed) -> Steps[Move]:
    commits = yield from history.since_known(client, known.table, known.version, read.version)
    return (yield from move_over(client, known, read.version, read.at, commits))


def _repeated(
    client: Client, keyed: KeyedInput, key: Key, move: Move, rows: int, limit: int | None
) -> Steps[tuple[Any, ...] | None]:
    """A key that occurs more than once after the move: among the inserted keys, or in the whole table if the feed has more rows
    than it."""
    if move.feed_rows is not None and move.feed_rows <= rows:
        # the table may have got other columns after that version
        facts = replace(keyed.found.facts, columns=tuple(c for c in keyed.found.facts.columns if c.name in key.columns))
        move = yield from proved(client, replace(keyed.found, facts=facts), move)
        return (yield from repeated_new_key(client, keyed.found, key, move, limit=limit))
    broken = yield from repeated_at(client, keyed.found, move.to_version, key)
    return broken[1] if broken is not None else None

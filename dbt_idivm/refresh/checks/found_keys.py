"""Look in the data for keys that nobody has declared (ADR 0063). Each look reads the columns of one candidate of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from dbt_idivm.definition.facts import Table
from dbt_idivm.definition.found_keys import FOUND, candidates
from dbt_idivm.definition.keys import Key
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.checks.keys import Check, alike, check_of, unique_of
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps


def find_keys(client: Client, inputs: Mapping[str, Input], tables: Sequence[Table]) -> Steps[dict[str, tuple[str, ...]]]:
    """Table's name → columns of the first of its candidates that holds at the pinned version, where there is one.

    One statement looks at candidates of the same types, each once per invocation. A key that could not be looked up because the
    statement failed is not found.
    """
    left = {table.name: candidates(table) for table in tables if inputs[table.name].version is not None}
    with ExitStack() as turns:
        # Reading a large table takes long, and models of other threads that need it wait for the answer. Locks have an order.
        for table in sorted({inputs[name].table for name, columns in left.items() if columns}):
            turns.enter_context(client.invocation.turn(f"keys of {table}"))
        return (yield from _found(client, inputs, left))


def _found(
    client: Client, inputs: Mapping[str, Input], left: Mapping[str, tuple[tuple[str, ...], ...]]
) -> Steps[dict[str, tuple[str, ...]]]:
    """As `find_keys`. `left`: table's name → the candidates to look at."""
    found: dict[str, tuple[str, ...]] = {}
    while any(left.values()):
        checks = {name: _check(inputs[name], columns[0]) for name, columns in left.items() if columns}
        for group in alike(each for each in checks.values() if not client.invocation.knows(_looked(each))):
            held = yield from unique_of(client, group)
            for each in group:
                client.invocation.remember(_looked(each), held is not None and each in held)
                if held is not None and each in held:
                    client.invocation.remember(each.asked, None)
        found |= {name: check.columns for name, check in checks.items() if client.invocation.known(_looked(check))}
        left = {name: columns[1:] for name, columns in left.items() if name not in found}
    return found


def _check(found: Input, columns: tuple[str, ...]) -> Check:
    assert found.version is not None
    return check_of(found, found.version, Key(columns, FOUND, found=True))


def _looked(check: Check) -> tuple[object, ...]:
    """What an invocation remembers by whether the candidate holds."""
    return ("is key", *check)

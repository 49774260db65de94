"""The statement that migrates stored rows to other constants of their definition (`adaptation/moved.py`)."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dbt_idivm.adaptation.moved import Moved
from dbt_idivm.adaptation.moving import constant_kind
from dbt_idivm.algebra import expressions
from dbt_idivm.algebra.types import type_of
from dbt_idivm.algebra.written_time import at_time
from dbt_idivm.refresh.catalog.clock import Clock, evaluated, values_of
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.diff import fetched_row
from dbt_idivm.script.render import applications, ask, render
from dbt_idivm.script.ways import Write


def bound_to(client: Client, found: Moved, binding: Binding, before: Clock | None, at: int) -> Steps[Binding | None]:
    """The binding with the values of the constants at a time, and with what differs in them. None if the engine gives one another
    type, or an expression of the clock another value than it had `before`."""
    constants, time = list(found.constants.values()), Clock(at).timestamp
    values = [value for each in constants for value in (each.old, each.new)]
    kinds = [each.kind for each in constants for _ in range(2)]
    now = [at_time(value, time) for value in values]
    cells = [exp.cast(value.copy(), type_of(kind)) for value, kind in zip(now, kinds, strict=True)]
    encoded, types = yield from evaluated(client, "evaluate constants", cells, now, kinds)
    if [type_of(each) for each in types] != [type_of(constant_kind(value) or "") for value in values]:
        return None
    fetched = fetched_row(kinds, encoded)
    old, new = fetched[::2], fetched[1::2]
    known = values_of(before)
    if any(known.get(expressions.render(each.old), value) != value for each, value in zip(constants, old, strict=True)):
        return None
    return replace(binding, changes=found.changes(old, new), clock=dict(zip(found.constants, new, strict=True)))


def moving_statement(client: Client, found: Moved, binding: Binding, table: str) -> Steps[Write | None]:
    """The statement that changes the stored rows; None if none change."""
    done = applications(found.plan, binding.changes)
    if done is None:
        return None
    application = next((each for each in done if each.way == found.way), done[0])
    asked = ask(found.plan, application, binding, table)
    if asked is not None:
        rows = yield from client.read(asked.source.query, f"what is lost in {table}")
        application = asked.application.answered(asked.source.answered(rows.rows))
    return render(found.plan, application, binding, table).statement

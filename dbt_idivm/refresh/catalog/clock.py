"""The values of the clock that a view was computed from.

One invocation has one time. The engine evaluates the expressions of the clock in a view at that time, in the zone of the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.written_time import at_time
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.frontend.clock_input import expression_of
from dbt_idivm.operators.scan import CLOCK, Attribute
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Statement
from dbt_idivm.script.dialect import decode, encode, literal
from dbt_idivm.script.diff import InlineDiff, Value, fetched_row


@dataclass(frozen=True)
class Clock:
    """`at`: the time, in microseconds since 1970. `values`: expression → its value at that time. `types`: expression → type."""

    at: int
    values: Mapping[str, Value] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def timestamp(self) -> exp.Expr:
        return decode(literal(self.at), "timestamp")


def values_of(clock: Clock | None) -> Mapping[str, Value]:
    """The values of the clock, if a view reads it."""
    return clock.values if clock is not None else {}


def expressions_at(clock: Clock, read: Sequence[Attribute]) -> dict[str, exp.Expr]:
    """Expression of the clock → the expression at the time of `clock`."""
    return {each.name: at_time(expression_of(each), clock.timestamp) for each in read}


def moved_clock(before: Clock | None, now: Clock | None) -> InlineDiff | None:
    """The net diff of the clock; None if every expression has the same value. Both have the same expressions."""
    if before is None or now is None or before.values == now.values:
        return None
    names = tuple(now.values)
    old, new = (tuple(each.values[name] for name in names) for each in (before, now))
    return InlineDiff(names, ((old, -1), (new, 1)))


def clock_of(client: Client, read: Sequence[Attribute]) -> Steps[Clock]:
    """The clock in this invocation, with the values of these expressions. Raises IDIVM-206 if one has another type."""
    if not read:
        return Clock(client.invocation.time)
    key = ("clock", CLOCK, *sorted((each.name, each.type) for each in read))
    return (yield from client.once(key, lambda: clock_at(client, client.invocation.time, read)))


def clock_at(client: Client, at: int, read: Sequence[Attribute]) -> Steps[Clock]:
    """The clock at another time. Raises as `clock_of`."""
    read = sorted(read, key=lambda each: each.name)  # as a state has them
    values = [*expressions_at(Clock(at), read).values()]
    row, kinds = yield from evaluated(client, "evaluate the clock", values, values, [each.type for each in read])
    for each, kind in zip(read, kinds, strict=True):
        if kind.lower() != each.type:
            raise IdivmError(finding(206, function=f"{each.name}, which has the type {kind} and not {each.type},"))
    types = {each.name: each.type for each in read}
    return Clock(at, dict(zip(types, fetched_row([*types.values()], row), strict=True)), types)


def evaluated(
    client: Client, label: str, cells: Sequence[exp.Expr], typed: Sequence[exp.Expr], kinds: Sequence[str]
) -> Steps[tuple[tuple[Any, ...], list[str]]]:
    """The values of `cells`, encoded as of the types `kinds`, and the types that the engine gives `typed`, by one statement."""
    items = [encode(cell.copy(), kind) for cell, kind in zip(cells, kinds, strict=True)]
    types = [exp.Anonymous(this="TYPEOF", expressions=[each]) for each in typed]
    query = exp.Select(expressions=[exp.alias_(each, f"c{number}") for number, each in enumerate((*items, *types), 1)])
    found = yield from client.ask(Statement(client.dialect.sql(query), "metadata", label))
    (row,) = found.rows
    return tuple(row[: len(items)]), [str(each) for each in row[len(items) :]]

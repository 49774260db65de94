"""Verify keys: there is no trust without a check, except in IDs that are unique by construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps

COUNT = "idivm_count"


@dataclass(frozen=True)
class KeyedInput:
    """An input and the key by which its rows are maintained, if it has one."""

    found: Input
    key: Key | None = None


def verify(client: Client, found: Input, key: Key) -> Steps[None]:
    """Verify a key over the whole table at its pinned version, once per invocation. Raises IDIVM-305."""
    if key.trusted or found.version is None:
        return
    broken = yield from repeated_at(client, found.table, found.version, key)
    if broken is not None:
        raise not_unique(found.name, key, broken)


def repeated_at(client: Client, table: str, version: int, key: Key) -> Steps[tuple[int, tuple[Any, ...]] | None]:
    """`repeated` for a version of a table, queried once per invocation."""
    rows, label = client.dialect.table(table, version), f"check key ({', '.join(key.columns)}) of {table}"
    return (yield from client.once(("key", table, key.columns, version), lambda: repeated(client, rows, key, label)))


def not_unique(relation: str, key: Key, broken: tuple[int, tuple[Any, ...]]) -> IdivmError:
    count, values = broken
    return IdivmError(
        finding(
            305, key=", ".join(key.columns), source=relation, declared=key.declared, count=count, example=example(key, values)
        )
    )


def repeated(client: Client, rows: exp.Expr, key: Key, label: str) -> Steps[tuple[int, tuple[Any, ...]] | None]:
    """Number of key values that occur more than once in `rows`, and one of them; None if the key holds."""
    names = [column(name) for name in key.columns]
    groups = (
        exp.Select(expressions=[*names, exp.alias_(exp.Count(this=exp.Star()), COUNT)])
        .from_(rows)
        .group_by(*(name.copy() for name in names))
        .having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)))
    )
    # the window counts the groups before LIMIT cuts them
    total = exp.Window(this=exp.Count(this=exp.Star()))
    query = exp.Select(expressions=[exp.alias_(total, "idivm_total"), exp.Star()]).from_(groups.subquery("repeated")).limit(1)
    found = yield from client.read(query, label)
    return (int(found.rows[0][0]), tuple(found.rows[0][1:-1])) if found.rows else None


def example(key: Key, values: tuple[Any, ...]) -> str:
    """A value of a key, for a message."""
    return ", ".join(f"{name} = {value}" for name, value in zip(key.columns, values, strict=True))

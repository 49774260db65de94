"""The constraints of a model's contract, as CHECK constraints on the table that holds its rows.

They are compared with the table's constraints each time, because a table that was created again has none. This happens after the
refresh; if a contract was loosened, its former CHECKs may stop the refresh, and are dropped at that point. A column's `not_null`
is a CHECK too: Delta cannot forbid NULLs in a column that has allowed them, and a CTAS allows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dbt_idivm.digests import digest
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.script.dialect import Dialect

_STORED = "delta.constraints."
_OURS = "idivm_"  # prefix of constraints that the user has not named
VIOLATED = ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",)


def persist(client: Client, table: str, wanted: Mapping[str, str]) -> Steps[None]:
    """Add and drop constraints so that the table has those in `wanted` (name → expression). The engine checks existing rows."""
    stored = yield from _stored(client, table)
    yield from _drop(client, table, _former(stored, wanted))
    for name, expression in wanted.items():
        if stored.get(name) != expression:
            yield from client.ask(client.commands.add_check(table, name, expression))


def loosen(client: Client, table: str, wanted: Mapping[str, str], *, every: bool) -> Steps[bool]:
    """Drop constraints that the contract no longer has, without adding new ones. Returns whether there were any. `every`: also
    drop constraints with names that are not in the contract, and may be somebody else's."""
    stored = yield from _stored(client, table)
    former = [name for name, expression in stored.items() if wanted.get(name) != expression] if every else _former(stored, wanted)
    yield from _drop(client, table, former)
    return bool(former)


def _stored(client: Client, table: str) -> Steps[dict[str, str]]:
    rows = yield from client.ask(client.commands.properties(table))
    return {str(key).removeprefix(_STORED): str(value) for key, value in rows.rows if str(key).startswith(_STORED)}


def _former(stored: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    return [
        name
        for name, expression in stored.items()
        if wanted.get(name) != expression and (name in wanted or name.startswith(_OURS))
    ]


def _drop(client: Client, table: str, names: Iterable[str]) -> Steps[None]:
    for name in names:
        yield from client.ask(client.commands.drop_check(table, name))


def declared(dialect: Dialect, columns: Iterable[Mapping[str, Any]], constraints: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Name → expression of the declared constraints that an engine can check. Keys are not included, because refreshes check
    them.

    `columns` and `constraints` are those of a model in dbt's manifest. Names are lower case, as Delta stores them.
    """
    found: dict[str, str] = {}
    for name, expression in (*_of_model(dialect, constraints), *_of_columns(dialect, columns)):
        found[(name or _OURS + digest(expression)).lower()] = expression
    return found


def _of_model(dialect: Dialect, constraints: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str | None, str]]:
    for constraint in constraints:
        if _kind(constraint) == "check" and constraint.get("expression"):
            yield constraint.get("name"), str(constraint["expression"])
        if _kind(constraint) == "not_null":
            for column in constraint.get("columns") or ():
                yield None, _is_not_null(dialect, column)


def _of_columns(dialect: Dialect, columns: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str | None, str]]:
    for column in columns:
        for constraint in column.get("constraints") or ():
            if _kind(constraint) == "not_null":
                yield constraint.get("name"), _is_not_null(dialect, column["name"])
            if _kind(constraint) == "check" and constraint.get("expression"):
                yield constraint.get("name"), str(constraint["expression"])


def _is_not_null(dialect: Dialect, column: str) -> str:
    return f"{dialect.identifier_sql(column)} IS NOT NULL"


def _kind(constraint: Mapping[str, Any]) -> str:
    kind = constraint.get("type")
    return str(getattr(kind, "value", kind))

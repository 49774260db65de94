"""Verify keys: there is no trust without a check, except in IDs that are unique by construction."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlglot import exp

from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.engine.together import grouped, read_together

COUNT, INPUT = "idivm_count", "idivm_input"


@dataclass(frozen=True)
class KeyedInput:
    """An input and the key by which its rows are maintained, if it has one."""

    found: Input
    key: Key | None = None


def verify_all(client: Client, inputs: Mapping[str, Input], keys: Mapping[str, Key]) -> Steps[None]:
    """Verify the keys of inputs, by their names, over the whole tables at their pinned versions, each once per invocation.

    Keys of the same types are verified by one statement; those that it finds to be broken are queried again. Raises IDIVM-305.
    """
    for group in _alike(client, inputs, keys):
        unique = yield from _unique(client, group)
        for each in unique:
            client.invocation.remember(each.asked, None)
    for name, key in keys.items():
        yield from verify(client, inputs[name], key)


def verify(client: Client, found: Input, key: Key) -> Steps[None]:
    """Verify a key over the whole table at its pinned version, once per invocation. Raises IDIVM-305."""
    if key.trusted or found.version is None:
        return
    broken = yield from repeated_at(client, found.table, found.version, key)
    if broken is not None:
        raise not_unique(found.name, key, broken)


class _Check(NamedTuple):
    """A key that is to be verified over a version of a table."""

    table: str
    version: int
    columns: tuple[str, ...]

    @property
    def asked(self) -> Hashable:
        """What an invocation remembers the answer by."""
        return ("key", self.table, self.columns, self.version)


def _alike(client: Client, inputs: Mapping[str, Input], keys: Mapping[str, Key]) -> Iterator[Sequence[_Check]]:
    """Groups of keys of the same types that are to be verified."""
    found: dict[tuple[str, ...], dict[_Check, None]] = {}
    for name, key in keys.items():
        table, version = inputs[name].table, inputs[name].version
        types = {each.name: each.type for each in inputs[name].facts.columns}
        if key.trusted or version is None or not types.keys() >= {*key.columns}:
            continue
        check = _Check(table, version, key.columns)
        if not client.invocation.knows(check.asked):
            found.setdefault(tuple(types[column_] for column_ in key.columns), {})[check] = None
    for checks in found.values():
        yield from grouped(checks, lambda _: True)


def _unique(client: Client, group: Sequence[_Check]) -> Steps[tuple[_Check, ...]]:
    """Those of the keys that are unique. None of them if the statement fails: then each is verified alone, and reports the
    failure."""
    names = numbered("k", group[0].columns)
    parts = [
        exp.Select(
            expressions=[
                exp.alias_(exp.Literal.number(number), INPUT),
                *(exp.alias_(column(name), alias) for name, alias in zip(each.columns, names, strict=True)),
            ]
        ).from_(client.dialect.table(each.table, each.version))
        for number, each in enumerate(group)
    ]
    label = f"check keys of {len(group)} tables, {group[0].table} to {group[-1].table}"
    broken = yield from broken_inputs(client, parts, names, label)
    return () if broken is None else tuple(each for number, each in enumerate(group) if number not in broken)


def broken_inputs(client: Client, parts: Sequence[exp.Query], names: Sequence[str], label: str) -> Steps[frozenset[int] | None]:
    """The numbers of the `parts` in which a key, the columns `names`, occurs more than once; None if the statement fails. Each
    row of a part begins with its number as INPUT."""
    rows = subquery(exp.union(*parts, distinct=False, copy=False), "of_inputs")
    found = yield from read_together(client, _repeated([column(INPUT)], rows, (INPUT, *names)).distinct(), label)
    return None if found is None else frozenset(int(row[0]) for row in found.rows)


def repeated_at(client: Client, table: str, version: int, key: Key) -> Steps[tuple[int, tuple[Any, ...]] | None]:
    """`repeated` for a version of a table, queried once per invocation."""
    rows, label = client.dialect.table(table, version), f"check key ({', '.join(key.columns)}) of {table}"
    return (yield from client.once(_Check(table, version, key.columns).asked, lambda: repeated(client, rows, key, label)))


def not_unique(relation: str, key: Key, broken: tuple[int, tuple[Any, ...]]) -> IdivmError:
    count, values = broken
    return IdivmError(
        finding(
            305, key=", ".join(key.columns), source=relation, declared=key.declared, count=count, example=example(key, values)
        )
    )


def repeated(client: Client, rows: exp.Expr, key: Key, label: str) -> Steps[tuple[int, tuple[Any, ...]] | None]:
    """Number of key values that occur more than once in `rows`, and one of them; None if the key holds."""
    count = exp.alias_(exp.Count(this=exp.Star()), COUNT)
    groups = _repeated([*map(column, key.columns), count], rows, key.columns)
    # the window counts the groups before LIMIT cuts them
    total = exp.Window(this=exp.Count(this=exp.Star()))
    query = exp.Select(expressions=[exp.alias_(total, "idivm_total"), exp.Star()]).from_(groups.subquery("repeated")).limit(1)
    found = yield from client.read(query, label)
    return (int(found.rows[0][0]), tuple(found.rows[0][1:-1])) if found.rows else None


def _repeated(shown: Sequence[exp.Expr], rows: exp.Expr, names: Sequence[str]) -> exp.Select:
    """The groups of at least two `rows` with the same values of the columns `names`."""
    is_repeated = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    return exp.Select(expressions=[*shown]).from_(rows).group_by(*map(column, names)).having(is_repeated)


def numbered(kind: str, columns: tuple[str, ...]) -> list[str]:
    """Generated names for the columns, whose own names may collide."""
    return [f"{kind}{number}" for number in range(1, len(columns) + 1)]


def example(key: Key, values: tuple[Any, ...]) -> str:
    """A value of a key, for a message."""
    return ", ".join(f"{name} = {value}" for name, value in zip(key.columns, values, strict=True))

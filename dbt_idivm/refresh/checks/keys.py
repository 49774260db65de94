"""Verify keys: there is no trust without a check, except in IDs that are unique by construction."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlglot import exp

from dbt_idivm.algebra.bags import union_all
from dbt_idivm.algebra.block import subquery
from dbt_idivm.algebra.expressions import column
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.engine.together import MOST_TABLES, read_together
from dbt_idivm.script.diff import INTEGERS

COUNT, INPUT = "idivm_count", "idivm_input"


@dataclass(frozen=True)
class KeyedInput:
    """An input and the key by which its rows are maintained, if it has one."""

    found: Input
    key: Key | None = None


def verify_all(client: Client, inputs: Mapping[str, Input], keys: Mapping[str, Key]) -> Steps[None]:
    """Verify the keys of inputs, by their names, over the whole tables at their pinned versions, each once per invocation.

    Keys of the same types are verified by one statement; those that it finds to be broken are queried again. Raises IDIVM-305,
    and BrokenKey.
    """
    for group in _alike(client, inputs, keys):
        unique = (yield from unique_of(client, group)) or ()
        for each in unique:
            client.invocation.remember(each.asked, None)
    for name, key in keys.items():
        yield from verify(client, inputs[name], key)


def verify(client: Client, found: Input, key: Key) -> Steps[None]:
    """Verify a key over the whole table at its pinned version, once per invocation. Raises IDIVM-305, and BrokenKey."""
    if key.trusted or found.version is None:
        return
    broken = yield from repeated_at(client, found, found.version, key)
    if broken is not None:
        raise broken_key(found.name, key, found.version, broken[1]) if key.found else not_unique(found.name, key, broken)


class BrokenKey(IdivmError):
    """IDIVM-428: a key that was found in the data does not hold. The view has to be rebuilt without it."""


def broken_key(relation: str, key: Key, version: int, values: tuple[Any, ...]) -> BrokenKey:
    """The error for a found key that does not hold since `version`: `values` occur more than once, or one of them is NULL."""
    return BrokenKey(lost_key(relation, key, version, values))


def lost_key(relation: str, key: Key, version: int, values: tuple[Any, ...]) -> Finding:
    """The reason to rebuild; see `broken_key`."""
    nulls = [name for name, value in zip(key.columns, values, strict=True) if value is None]
    what = f"{nulls[0]} is NULL" if nulls else f"{example(key, values)} occurs more than once"
    return finding(428, key=", ".join(key.columns), source=relation, version=version, what=what)


class Check(NamedTuple):
    """A key that is to be verified over a version of a table. `types`: those of its columns. A `found` key must not be NULL in
    any of its columns, either."""

    table: str
    version: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    found: bool = False

    @property
    def asked(self) -> Hashable:
        """What an invocation remembers the answer by."""
        return ("found key" if self.found else "key", self.table, self.columns, self.version)


def check_of(found: Input, version: int, key: Key) -> Check:
    """What is to be verified for the key of an input at a version of its table."""
    return Check(found.table, version, key.columns, types_of(found, key.columns), key.found)


def _alike(client: Client, inputs: Mapping[str, Input], keys: Mapping[str, Key]) -> Iterator[Sequence[Check]]:
    """Groups of at least two keys that are to be verified, and that one statement can verify."""
    checks = []
    for name, key in keys.items():
        version = inputs[name].version
        if key.trusted or version is None:
            continue
        check = check_of(inputs[name], version, key)
        if len(check.types) == len(key.columns) and not client.invocation.knows(check.asked):
            checks.append(check)
    yield from (group for group in alike(checks) if len(group) > 1)


def types_of(found: Input, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The types of those of the columns that the input has."""
    types = {each.name: each.type for each in found.facts.columns}
    return tuple(types[name] for name in columns if name in types)


def alike(checks: Iterable[Check]) -> Iterator[Sequence[Check]]:
    """Groups of at most `MOST_TABLES` checks, each once, that one statement can make."""
    found: dict[tuple[object, ...], dict[Check, None]] = {}
    for check in checks:
        found.setdefault((check.found, *check.types), {})[check] = None
    for group in map(tuple, found.values()):
        yield from (group[start : start + MOST_TABLES] for start in range(0, len(group), MOST_TABLES))


def unique_of(client: Client, group: Sequence[Check]) -> Steps[tuple[Check, ...] | None]:
    """Those of the keys that hold; None if the statement fails. The keys are `alike`."""
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
    if group[0].found:
        label = f"look for keys of {group[0].table}" + (f" and {len(group) - 1} more" if len(group) > 1 else "")
    broken = yield from broken_inputs(client, parts, names, label, found=group[0].found, packed=_is_packed(group[0].types))
    return None if broken is None else tuple(each for number, each in enumerate(group) if number not in broken)


def broken_inputs(
    client: Client, parts: Sequence[exp.Query], names: Sequence[str], label: str, *, found: bool, packed: bool = False
) -> Steps[frozenset[int] | None]:
    """The numbers of the `parts` in which a key, the columns `names`, does not hold; None if the statement fails. Each row of a
    part begins with its number as INPUT. `found`: whether the keys are found ones, which must not be NULL. `packed`: whether they
    are of one integral column, of whole tables."""
    rows = subquery(union_all(parts), "of_inputs")
    if packed:
        query = _repeated_packed([column(INPUT)], rows, [column(INPUT)], names[0], found=found).distinct()
    else:
        query = _repeated([column(INPUT)], rows, (INPUT, *names), names if found else ()).distinct()
    answer = yield from read_together(client, query, label)
    return None if answer is None else frozenset(int(row[0]) for row in answer.rows)


def repeated_at(client: Client, found: Input, version: int, key: Key) -> Steps[tuple[int, tuple[Any, ...]] | None]:
    """`repeated` for a version of an input's table, queried once per invocation."""
    check = check_of(found, version, key)
    rows, label = client.dialect.table(found.table, version), f"check key ({', '.join(key.columns)}) of {found.table}"

    def look() -> Steps[tuple[int, tuple[Any, ...]] | None]:
        if _is_packed(check.types):
            query = _repeated_packed([exp.Literal.number(1)], rows.copy(), [], key.columns[0], found=key.found).limit(1)
            if not (yield from client.read(query, label)).rows:
                return None
        return (yield from repeated(client, rows, key, label))

    return (yield from client.once(check.asked, look))


def not_unique(relation: str, key: Key, broken: tuple[int, tuple[Any, ...]]) -> IdivmError:
    count, values = broken
    return IdivmError(
        finding(
            305, key=", ".join(key.columns), source=relation, declared=key.declared, count=count, example=example(key, values)
        )
    )


def repeated(client: Client, rows: exp.Expr, key: Key, label: str) -> Steps[tuple[int, tuple[Any, ...]] | None]:
    """Number of key values that occur more than once in `rows` (or of a found key, that are NULL), and one of them; None if the
    key holds."""
    count = exp.alias_(exp.Count(this=exp.Star()), COUNT)
    groups = _repeated([*map(column, key.columns), count], rows, key.columns, key.columns if key.found else ())
    # the window counts the groups before LIMIT cuts them
    total = exp.Window(this=exp.Count(this=exp.Star()))
    query = exp.Select(expressions=[exp.alias_(total, "idivm_total"), exp.Star()]).from_(groups.subquery("repeated")).limit(1)
    found = yield from client.read(query, label)
    return (int(found.rows[0][0]), tuple(found.rows[0][1:-1])) if found.rows else None


def _repeated(shown: Sequence[exp.Expr], rows: exp.Expr, names: Sequence[str], never_null: Sequence[str]) -> exp.Select:
    """The groups of at least two `rows` with the same values of the columns `names`, and those where one of `never_null` is
    NULL."""
    groups = exp.Select(expressions=[*shown]).from_(rows).group_by(*map(column, names))
    return groups.having(is_broken(map(column, never_null)))


def _is_packed(types: Sequence[str]) -> bool:
    return len(types) == 1 and types[0] in INTEGERS


def _repeated_packed(
    shown: Sequence[exp.Expr], rows: exp.Expr, groups: Sequence[exp.Expr], name: str, *, found: bool
) -> exp.Select:
    """What is `shown` of the `groups` of rows in which a value of the integral column `name` is repeated (or NULL, if `found`).

    Groups are made of 64 successive values, as the bits of a number: they are different if it has as many bits as there are rows.
    Keys are mostly dense, so there are few groups, while a group for each key has to be shuffled. Measured: 20M keys take 1.8 s
    instead of 16.
    """
    value = column(name)
    bit = exp.Anonymous(
        this="shiftleft",
        expressions=[
            exp.cast(exp.Literal.number(1), "bigint"),
            exp.cast(exp.BitwiseAnd(this=value, expression=exp.Literal.number(63)), "int"),
        ],
    )
    bits = exp.Anonymous(this="bit_count", expressions=[exp.Anonymous(this="bit_or", expressions=[bit])])
    of_null = exp.Literal.number(0 if found else 1)  # bits of the group of NULLs
    differs = exp.NEQ(this=exp.Count(this=exp.Star()), expression=exp.Coalesce(this=bits, expressions=[of_null]))
    chunk = exp.Anonymous(this="shiftright", expressions=[value.copy(), exp.Literal.number(6)])
    return exp.Select(expressions=[*shown]).from_(rows).group_by(*(each.copy() for each in groups), chunk).having(differs)


def is_broken(never_null: Iterable[exp.Expr]) -> exp.Expr:
    """The condition on a group of rows with the same key that shows that the key does not hold."""
    is_repeated = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    return exp.or_(is_repeated, *(exp.Is(this=each, expression=exp.Null()) for each in never_null), copy=False)


def numbered(kind: str, columns: tuple[str, ...]) -> list[str]:
    """Generated names for the columns, whose own names may collide."""
    return [f"{kind}{number}" for number in range(1, len(columns) + 1)]


def example(key: Key, values: tuple[Any, ...]) -> str:
    """A value of a key, for a message."""
    return ", ".join(f"{name} = {value}" for name, value in zip(key.columns, values, strict=True))

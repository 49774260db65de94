"""Choose the key that identifies the rows of an input, and verify it (no trust without a check).

Order of preference: the model's config; what dbt declares (constraints, tests); the IDs of an upstream view of ours. Only the
last needs no check as long as nobody else wrote to that view, because these IDs are unique by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.types import is_float, type_of
from dbt_idivm.errors import Finding, IdivmError, finding, listed, nearest
from dbt_idivm.refresh.catalog import state
from dbt_idivm.refresh.catalog.inputs import Input, Inputs
from dbt_idivm.refresh.catalog.relations import IDS
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import ModelRequest
from dbt_idivm.relation_name import as_named, names_of

COUNT = "idivm_count"


@dataclass(frozen=True)
class Key:
    """A key of an input. `declared`: where it was declared. A `trusted` key is not checked."""

    columns: tuple[str, ...]
    declared: str
    trusted: bool = False


@dataclass(frozen=True)
class KeyedInput:
    """An input and the key by which its rows are maintained, if it has one."""

    found: Input
    key: Key | None = None


def choose_keys(request: ModelRequest, configured: Mapping[str, tuple[str, ...]], inputs: Inputs) -> dict[str, Key]:
    """Relation name → key, for the inputs that have one. `configured`: the `keys` of the model's config.

    A configured key of a relation that the model does not read is ignored if it is one of the project. Raises IDIVM-103 and
    IDIVM-304 for unknown relations and columns.
    """
    findings = list(_unknown_names(request, configured, inputs))
    keys: dict[str, Key] = {}
    for name, found in inputs.tables.items():
        chosen = _configured(request, configured, name)
        if chosen is None:
            chosen = _declared(request, found) or _upstream(found)
        else:
            findings.extend(_missing_columns(found, chosen))
        if chosen is not None and chosen.columns and not _is_blurred(found, chosen):
            keys[name] = _spelt(found, chosen)
    if findings:
        raise IdivmError(findings)
    return keys


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


def _configured(request: ModelRequest, configured: Mapping[str, tuple[str, ...]], relation: str) -> Key | None:
    for written, columns in configured.items():
        if _means(request, written, relation):
            return Key(columns, f"`keys` of model {request.name}")
    return None


def _means(request: ModelRequest, written: str, relation: str) -> bool:
    return as_named(written) in names_of(relation, request.input_names.get(relation, relation))


def _declared(request: ModelRequest, found: Input) -> Key | None:
    """The first declared key whose columns exist; trusted if the upstream view has the same IDs."""
    columns = {attribute.name.lower() for attribute in found.facts.columns}
    for candidate in request.keys.get(found.name, ()):
        if all(name.lower() in columns for name in candidate.columns):
            upstream = _upstream(found)
            same = upstream is not None and {n.lower() for n in upstream.columns} == {n.lower() for n in candidate.columns}
            return Key(candidate.columns, candidate.source, trusted=upstream is not None and upstream.trusted and same)
    return None


def _upstream(found: Input) -> Key | None:
    ids = found.facts.properties.get(IDS) or ()
    if not ids or not set(ids) <= {attribute.name for attribute in found.facts.columns}:
        return None
    return key_of_ids(found, tuple(ids), "the IDs of an upstream view")


def key_of_ids(found: Input, ids: tuple[str, ...], declared: str) -> Key:
    """The IDs of a view or cache as its key. They have to be checked if others wrote to it, if it is a clone with copied
    properties, or if the keys that the IDs consist of were not checked."""
    last = _last(found)
    return Key(ids, declared, trusted=last is not None and has_unique_ids(last) and not _is_among_others(found, last))


def _last(found: Input) -> state.State | None:
    """The state in the newest commit, if that commit is one of ours."""
    return state.read(found.commit.user_metadata) if found.commit else None


def has_unique_ids(last: state.State) -> bool:
    """Whether the IDs of a view whose newest commit has that state are unique by construction."""
    return last.trusted and last.checked and not last.unverified


# Wrong without it: if others insert a row with the ID of an existing row, the next refresh that deletes one of them deletes both.
def _is_among_others(found: Input, last: state.State) -> bool:
    """Whether others may have committed between the version that the refresh started from and its own commit. An OPTIMIZE that
    Delta adds to a write has the same state."""
    commit = found.commit
    assert commit is not None
    return last.base is not None and commit.version - last.base > (2 if commit.operation == "OPTIMIZE" else 1)


def _is_blurred(found: Input, key: Key) -> bool:
    """Whether equal values of the key can differ, as 0.0 and -0.0 do. The rows are then maintained as if they had no key.

    The IDs of an upstream view are exempt: Spark normalises zeros in grouping keys.
    """
    names, last = {name.lower() for name in key.columns}, _last(found)
    if last is not None and last.trusted and names == {name.lower() for name in found.facts.properties.get(IDS) or ()}:
        return False
    return any(is_float(type_of(a.type)) for a in found.facts.columns if a.name.lower() in names)


def _unknown_names(request: ModelRequest, configured: Mapping[str, tuple[str, ...]], inputs: Inputs) -> list[Finding]:
    written = {name: request.input_names.get(name, name) for name in (*inputs.tables, *inputs.views)}
    inputs_are = f"its inputs are {listed(written.values())}" if written else "it has no inputs"
    return [
        finding(
            103,
            key="keys",
            value=name,
            accepted=f"relations of the project and inputs of the model; {inputs_are}"
            + (f"; did you mean {listed(nearest(name, written.values(), 1))}?" if written else ""),
        )
        for name in configured
        if as_named(name) not in request.relations and not any(_means(request, name, relation) for relation in written)
    ]


def _missing_columns(found: Input, key: Key) -> list[Finding]:
    names = [attribute.name for attribute in found.facts.columns]
    known = {name.lower() for name in names}
    return [
        finding(304, column=name, source=found.name, declared=key.declared, nearest=listed(nearest(name, names)))
        for name in key.columns
        if name.lower() not in known
    ]


def _spelt(found: Input, key: Key) -> Key:
    """The key with its columns spelled as in the table."""
    spelling: Mapping[str, str] = {attribute.name.lower(): attribute.name for attribute in found.facts.columns}
    columns = tuple(spelling.get(name.lower(), name) for name in key.columns)
    return Key(tuple(dict.fromkeys(columns)), key.declared, key.trusted)

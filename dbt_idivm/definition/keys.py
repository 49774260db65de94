"""Choose the key that identifies the rows of an input.

Order of preference: the model's config; what dbt declares (constraints, tests); the IDs of an upstream view of ours; a key that
was found in the data (ADR 0063). Only IDs of an upstream view need no check as long as nobody else wrote to that view, because
they are unique by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbt_idivm.algebra.types import is_float, type_of
from dbt_idivm.definition.facts import Facts, Table
from dbt_idivm.definition.found_keys import FOUND, may_identify
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding, IdivmError, finding, listed, nearest
from dbt_idivm.relation_name import as_named, names_of


@dataclass(frozen=True)
class Key:
    """A key of an input. `declared`: where it was declared. A `trusted` key is not checked. `found`: nobody has declared it, so a
    view is rebuilt without it where it does not hold."""

    columns: tuple[str, ...]
    declared: str
    trusted: bool = False
    found: bool = False


def choose_keys(
    request: ModelRequest,
    configured: Mapping[str, tuple[str, ...]],
    facts: Facts,
    found_keys: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, Key]:
    """Relation name → key, for the inputs that have one. `configured`: the `keys` of the model's config. `found_keys`: relation
    name → columns of the key that was found in its data; used where no key is declared.

    A configured key of a relation that the model does not read is ignored if it is one of the project. Raises IDIVM-103 and
    IDIVM-304 for unknown relations and columns.
    """
    findings = list(_unknown_names(request, configured, facts))
    keys: dict[str, Key] = {}
    for name, found in facts.tables.items():
        chosen = _configured(request, configured, name)
        if chosen is None:
            chosen = _declared(request, found) or _upstream(found) or _found(found, (found_keys or {}).get(name, ()))
        else:
            findings.extend(_missing_columns(found, chosen))
        if chosen is not None and chosen.columns and not _is_blurred(found, chosen):
            keys[name] = _spelt(found, chosen)
    if findings:
        raise IdivmError(findings)
    return keys


def without_declared_key(request: ModelRequest, configured: Mapping[str, tuple[str, ...]], facts: Facts) -> tuple[Table, ...]:
    """The inputs of which neither a key is known, nor that they have none: a key of them may be found."""
    return tuple(
        found
        for name, found in facts.tables.items()
        if _configured(request, configured, name) is None and _declared(request, found) is None and _upstream(found) is None
    )


def _configured(request: ModelRequest, configured: Mapping[str, tuple[str, ...]], relation: str) -> Key | None:
    for written, columns in configured.items():
        if _means(request, written, relation):
            return Key(columns, f"`keys` of model {request.name}")
    return None


def _means(request: ModelRequest, written: str, relation: str) -> bool:
    return as_named(written) in names_of(relation, request.input_names.get(relation, relation))


def _declared(request: ModelRequest, found: Table) -> Key | None:
    """The first declared key whose columns exist; trusted if the upstream view has the same IDs."""
    columns = {attribute.name.lower() for attribute in found.columns}
    for candidate in request.keys.get(found.name, ()):
        if all(name.lower() in columns for name in candidate.columns):
            upstream = _upstream(found)
            same = upstream is not None and {n.lower() for n in upstream.columns} == {n.lower() for n in candidate.columns}
            return Key(candidate.columns, candidate.source, trusted=upstream is not None and upstream.trusted and same)
    return None


def _upstream(found: Table) -> Key | None:
    if not found.ids or not set(found.ids) <= {attribute.name for attribute in found.columns}:
        return None
    return Key(found.ids, "the IDs of an upstream view", found.has_unique_ids)


def _found(found: Table, columns: tuple[str, ...]) -> Key | None:
    """The key that was found; None if there is none, or the table no longer has such columns."""
    types = {attribute.name: attribute.type for attribute in found.columns}
    if not columns or not all(name in types and may_identify(types[name]) for name in columns):
        return None
    return Key(columns, FOUND, found=True)


def _is_blurred(found: Table, key: Key) -> bool:
    """Whether equal values of the key can differ, as 0.0 and -0.0 do. The rows are then maintained as if they had no key.

    The IDs of an upstream view are exempt: Spark normalises zeros in grouping keys.
    """
    names = {name.lower() for name in key.columns}
    if found.is_ours and names == {name.lower() for name in found.ids}:
        return False
    return any(is_float(type_of(a.type)) for a in found.columns if a.name.lower() in names)


def _unknown_names(request: ModelRequest, configured: Mapping[str, tuple[str, ...]], facts: Facts) -> list[Finding]:
    written = {name: request.input_names.get(name, name) for name in (*facts.tables, *facts.views)}
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


def _missing_columns(found: Table, key: Key) -> list[Finding]:
    names = [attribute.name for attribute in found.columns]
    known = {name.lower() for name in names}
    return [
        finding(304, column=name, source=found.name, declared=key.declared, nearest=listed(nearest(name, names)))
        for name in key.columns
        if name.lower() not in known
    ]


def _spelt(found: Table, key: Key) -> Key:
    """The key with its columns spelled as in the table."""
    spelling: Mapping[str, str] = {attribute.name.lower(): attribute.name for attribute in found.columns}
    columns = tuple(spelling.get(name.lower(), name) for name in key.columns)
    return replace(key, columns=tuple(dict.fromkeys(columns)))

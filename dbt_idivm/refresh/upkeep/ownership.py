"""Whose a relation is: the table behind a view of ours, what a model left behind, and letting a table go."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dbt_idivm.refresh.catalog.relations import LOG, OWNER, Described, describe
from dbt_idivm.refresh.catalog.stored_view import LOG_SUFFIX
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.upkeep.auxiliary_tables import is_auxiliary
from dbt_idivm.relation_name import name_parts, with_suffix
from dbt_idivm.stored_names import is_cache_of


@dataclass(frozen=True)
class Orphan:
    """A relation that a model made and that no model of the project has any more."""

    relation: str
    kind: str  # table or view
    owner: str  # dbt's unique_id of the model


def behind(client: Client, relation: str, beside: Collection[str]) -> Steps[list[str]]:
    """Those of `beside` that a relation of ours consists of: the table behind a view, its caches, and the log of its changes."""
    found: list[str] = []
    if not beside:
        return found
    facts = yield from describe(client, relation)
    table = (facts.maintained or facts.properties.get(LOG)) if facts is not None else None
    if facts is None or table is None:
        return found
    if facts.kind == "view" and table == facts.maintained and table in beside:
        found.append(table)
    identifier, log = name_parts(relation)[-1], with_suffix(relation, LOG_SUFFIX)
    for each in (name for name in beside if name == log or is_cache_of(identifier, name_parts(name)[-1])):
        own = yield from describe(client, each)
        if own is not None and own.maintained == each:
            found.append(each)
    return found


def orphans(client: Client, found: Iterable[str], taken: Collection[str], packages: Collection[str]) -> Steps[list[Orphan]]:
    """Those of the relations `found` that a model of these packages made, and that no node has.

    `taken` are the relations of the project's nodes, and theirs stay: what is behind a view, too.
    """
    left: list[Orphan] = []
    found = tuple(found)
    for relation in found:
        if relation in taken:
            continue
        facts = yield from describe(client, relation)
        owner = _owner(facts)
        if facts is None or owner is None or _package(owner) not in packages:
            continue
        model = next((each for each in taken if _is_beside(each, relation)), None)
        if model is not None and relation in (yield from behind(client, model, (relation,))):
            continue
        left.append(Orphan(relation, facts.kind, owner))
    return left


def release(client: Client, relation: str) -> Steps[None]:
    """Take our properties from a table that is maintained otherwise from now on: they say what no longer holds."""
    facts = yield from describe(client, relation)
    if facts is not None and facts.is_delta and facts.properties:
        yield from client.ask(client.commands.unset_properties(relation, tuple(facts.properties)))


def _is_beside(model: str, relation: str) -> bool:
    *place, name = name_parts(relation)
    *schema, identifier = name_parts(model)
    return place == schema and is_auxiliary(identifier, name)


def _package(owner: str) -> str:
    """`model.shop.orders` is of the package `shop`."""
    return owner.split(".")[1]


def _owner(facts: Described | None) -> str | None:
    owner = facts.properties.get(OWNER) if facts is not None else None
    return str(owner) if owner is not None else None

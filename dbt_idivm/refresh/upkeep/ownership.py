"""Ownership of relations: the table behind a view of ours, relations left behind by models, and releasing a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dbt_idivm.cache_names import is_cache
from dbt_idivm.refresh.catalog.relations import LOG, OWNER, Described, describe
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.upkeep.auxiliary_tables import is_auxiliary
from dbt_idivm.refresh.upkeep.shared_caches import Kind, caches_of, unused
from dbt_idivm.relation_name import LOG_SUFFIX, name_parts, with_suffix


@dataclass(frozen=True)
class Orphan:
    """A relation that was made by a model which the project no longer has."""

    relation: str
    kind: str  # table or view
    owner: str  # dbt's unique_id of the model


def behind(client: Client, relation: str, there: Mapping[str, Kind]) -> Steps[list[str]]:
    """Those of the relations `there`, in the same schema, that belong to `relation`: the table behind a view, the log of its
    changes, and caches that no other relation uses."""
    if not any(_is_beside(relation, name) or is_cache(name_parts(name)[-1]) for name in there):
        return []
    facts = yield from describe(client, relation)
    table = (facts.maintained or facts.properties.get(LOG)) if facts is not None else None
    if facts is None or table is None:
        return []
    found = [table] if facts.kind == "view" and table == facts.maintained and table in there else []
    log = with_suffix(relation, LOG_SUFFIX)
    if log in there:
        logged = yield from describe(client, log)
        found += [log] if logged is not None and logged.maintained == log else []
    caches = yield from caches_of(client, relation, facts, there)
    others = {name: kind for name, kind in there.items() if name not in (relation, *found)}
    return [*found, *(yield from unused(client, caches, others))]


def orphans(client: Client, found: Mapping[str, Kind], taken: Collection[str], packages: Collection[str]) -> Steps[list[Orphan]]:
    """Those of the relations `found` that a model of these packages has made, and that belong to no node any more.

    `taken`: the relations of the project's nodes. These stay, with everything that belongs to them: tables behind views, and
    caches.
    """
    left: list[Orphan] = []
    models = {name: kind for name, kind in found.items() if name in taken or any(_is_beside(each, name) for each in taken)}
    for relation in found:
        if relation in taken:
            continue
        facts = yield from describe(client, relation)
        owner = _owner(facts)
        if facts is None or owner is None or _package(owner) not in packages:
            continue
        model = next((each for each in taken if _is_beside(each, relation)), None)
        if model is not None and relation in (yield from behind(client, model, {relation: "table"})):
            continue
        if is_cache(name_parts(relation)[-1]) and not (yield from unused(client, (relation,), models)):
            continue
        left.append(Orphan(relation, facts.kind, owner))
    return left


def release(client: Client, relation: str) -> Steps[None]:
    """Remove our properties from a table that will no longer be maintained by us, because they would be wrong."""
    facts = yield from describe(client, relation)
    if facts is not None and facts.is_delta and facts.properties:
        yield from client.ask(client.commands.unset_properties(relation, tuple(facts.properties)))


def _is_beside(model: str, relation: str) -> bool:
    *place, name = name_parts(relation)
    *schema, identifier = name_parts(model)
    return place == schema and is_auxiliary(identifier, name)


def _package(owner: str) -> str:
    """`model.shop.orders` → `shop`."""
    return owner.split(".")[1]


def _owner(facts: Described | None) -> str | None:
    owner = facts.properties.get(OWNER) if facts is not None else None
    return str(owner) if owner is not None else None

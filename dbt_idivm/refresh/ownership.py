"""Whose a relation is: the table behind a view of ours, what a model left behind, and letting a table go."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dbt_idivm.refresh import commands
from dbt_idivm.refresh.relations import OWNER, Described, describe
from dbt_idivm.refresh.standing import HIDDEN_SUFFIX
from dbt_idivm.refresh.steps import Engine, Steps
from dbt_idivm.relation_name import with_suffix


@dataclass(frozen=True)
class Orphan:
    """A relation that a model made and that no model of the project has any more."""

    relation: str
    kind: str  # table or view
    owner: str  # dbt's unique_id of the model


def behind(engine: Engine, relation: str) -> Steps[str | None]:
    """The table behind a view of ours; None for every other relation."""
    facts = yield from describe(engine, relation)
    return facts.maintained if facts is not None and facts.kind == "view" else None


def orphans(engine: Engine, found: Iterable[str], taken: Collection[str], packages: Collection[str]) -> Steps[list[Orphan]]:
    """Those of the relations `found` that a model of these packages made, and that no node has.

    `taken` are the relations of the project's nodes, and theirs stay: what is behind a view, too.
    """
    left: list[Orphan] = []
    shown = {with_suffix(relation, HIDDEN_SUFFIX): relation for relation in taken}
    for relation in found:
        if relation in taken:
            continue
        facts = yield from describe(engine, relation)
        owner = _owner(facts)
        if facts is None or owner is None or _package(owner) not in packages:
            continue
        if relation in shown and relation == (yield from behind(engine, shown[relation])):
            continue
        left.append(Orphan(relation, facts.kind, owner))
    return left


def release(engine: Engine, relation: str) -> Steps[None]:
    """Take our properties from a table that is maintained otherwise from now on: they say what no longer holds."""
    facts = yield from describe(engine, relation)
    if facts is not None and facts.is_delta and facts.properties:
        yield from engine.ask(commands.unset_properties(relation, tuple(facts.properties)))


def _package(owner: str) -> str:
    """`model.shop.orders` is of the package `shop`."""
    return owner.split(".")[1]


def _owner(facts: Described | None) -> str | None:
    owner = facts.properties.get(OWNER) if facts is not None else None
    return str(owner) if owner is not None else None

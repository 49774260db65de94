"""Intermediate caches shared by models of a project: which models use them, and dropping those that nobody uses.

Ownership is stored only in the states of the views: a view uses the caches that it was computed from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias

from dbt_idivm.cache_names import is_cache, owner_of_caches
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.catalog.relations import LOG, OWNER, Described, describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import read_stored_view
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.relation_name import name_parts

Kind: TypeAlias = Literal["table", "view"]


def caches_of(client: Client, relation: str, facts: Described, there: Collection[str]) -> Steps[tuple[str, ...]]:
    """The existing caches that a relation of ours, with these `facts`, was computed from."""
    if not any(is_cache(name_parts(name)[-1]) for name in there):
        return ()
    if log := facts.properties.get(LOG):
        state = yield from _state_of(client, str(log), "table")
    else:
        state = yield from _state_of(client, relation, "view" if facts.kind == "view" else "table")
    return tuple(each for each in state.caches if each in there) if state is not None else ()


def unused(client: Client, caches: Iterable[str], relations: Mapping[str, Kind]) -> Steps[list[str]]:
    """Those of the caches that no relation was computed from, other unused caches not counted. A relation of ours without a
    readable state may have been computed from all of them."""
    left = dict.fromkeys(caches)
    if not left:
        return []
    had: dict[str, tuple[str, ...]] = {}
    for name, kind in relations.items():
        facts = yield from describe(client, name)
        if facts is None or facts.lost or facts.maintained is None:
            continue
        state = yield from _state_of(client, name, kind)
        had[name] = tuple(left) if state is None else state.caches
    while taken := [each for each in left if any(each in had[name] for name in had if name not in left)]:
        for each in taken:
            del left[each]
    return list(left)


def _state_of(client: Client, relation: str, kind: Kind) -> Steps[State | None]:
    *catalog, schema, identifier = name_parts(relation)
    model = ModelRequest(identifier, schema, identifier, "", existing=kind, database="".join(catalog))
    return (yield from read_stored_view(client, model, whole=True)).state


def drop_unused(client: Client, request: ModelRequest, before: State | None, done: Outcome) -> Steps[None]:
    """Drop the caches that the model no longer uses, unless another model uses them, or will use them in this invocation. A no-op
    does not look for caches left behind by an interrupted run."""
    now = {identifier for _, identifier, _ in done.relations}
    kept = [request.relation_beside(name) for name in now if is_cache(name)]
    client.invocation.use(request.relation, kept)
    there = {request.relation_beside(name) for name in request.neighbours}
    left = there.intersection(before.former) if before is not None and done.mode != "noop" else set()
    had = {*(before.caches if before is not None else ()), *left, *client.invocation.had(request.relation)}
    given_up = sorted(had.difference(kept))
    others = {request.relation_beside(name): kind for name, kind in request.neighbours.items() if name not in now}
    for cache in (yield from unused(client, given_up, others)):
        with client.invocation.turn(cache):
            found = yield from describe(client, cache)
            if found is None or client.invocation.uses(cache) or found.properties.get(OWNER) != owner_of_caches(request.project):
                continue
            yield from client.ask(client.commands.drop("table", cache))
            client.invocation.forget(cache)

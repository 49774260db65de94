"""A model's auxiliary tables beside its relation: the ID-extended table, the log of changes, and drafts of rebuilds."""

from __future__ import annotations

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.refresh.catalog.relations import OWNER, describe
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.staging import is_scratch
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.relation_name import HIDDEN_SUFFIX, LOG_SUFFIX, NEW_SUFFIX


def is_auxiliary(identifier: str, name: str) -> bool:
    """Whether refreshes of the model `identifier` may create a table called `name`."""
    own = {(identifier + suffix).lower() for suffix in (HIDDEN_SUFFIX, NEW_SUFFIX, LOG_SUFFIX)}
    return name.lower() in own or is_scratch(identifier, name)


def drop_obsolete(client: Client, request: ModelRequest, done: Outcome) -> Steps[None]:
    """Drop the model's own tables that it no longer uses. Tables of others are not touched."""
    used = {identifier.lower() for _, identifier, _ in done.relations}
    own = (name for name in request.neighbours if is_auxiliary(request.identifier, name))
    for identifier in (name for name in own if name.lower() not in used):
        table = request.relation_beside(identifier)
        found = yield from describe(client, table)
        if found is not None and (found.lost or found.properties.get(OWNER) == request.owner):
            yield from client.ask(client.commands.drop("table", table))
            client.invocation.forget(table)

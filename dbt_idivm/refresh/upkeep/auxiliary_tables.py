"""The tables that stand beside a model's relation: what the refresh has no more use for, or left when it broke off, goes."""

from __future__ import annotations

from dbt_idivm.refresh.catalog.relations import OWNER, describe
from dbt_idivm.refresh.catalog.stored_view import HIDDEN_SUFFIX, NEW_SUFFIX
from dbt_idivm.refresh.decide.planning import Job
from dbt_idivm.refresh.engine import commands
from dbt_idivm.refresh.engine.client import Steps
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.relation_name import relation_name
from dbt_idivm.stored_names import is_cache_of


def is_auxiliary(identifier: str, name: str) -> bool:
    """Whether `name` is one of those, beside the model's own, at which its refreshes make tables."""
    own = {(identifier + suffix).lower() for suffix in (HIDDEN_SUFFIX, NEW_SUFFIX)}
    return name.lower() in own or is_cache_of(identifier, name)


def clear(job: Job, done: Outcome) -> Steps[None]:
    """Drop the model's tables that it does not consist of any more. What is somebody else's stays."""
    request = job.request
    used = {identifier.lower() for _, identifier, _ in done.relations}
    for place in (name for name in request.beside if name.lower() not in used):
        table = relation_name(request.schema, place)
        found = yield from describe(job.engine, table)
        if found is not None and (found.lost or found.properties.get(OWNER) == request.owner):
            yield from job.engine.ask(commands.drop("table", table))
            job.invocation.forget(table)

"""Why a stored view does not have the fingerprint of the planned one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt_idivm.definition.fingerprint import CACHES, LAYOUT, TIES, are_there, had_no_plan
from dbt_idivm.digests import digest
from dbt_idivm.errors import Finding, IdivmError, finding
from dbt_idivm.refresh.catalog.relations import INPUTS, KEYS, describe
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.refresh.engine.client import Client, listed_columns
from dbt_idivm.refresh.engine.steps import Steps


def request_digest(job: Job) -> str:
    """Hash of everything that the refresh is asked with. If it and the inputs are unchanged, nothing has to be planned."""
    request, config = job.request, job.config
    declared = {name: [(key.columns, key.source) for key in found] for name, found in request.keys.items()}
    return digest(request.sql, declared, dict(request.input_names), dict(request.session), repr(config))


def difference(job: Job, stored: StoredView, planned: Planned) -> Steps[Finding | None]:
    """Why the stored view does not have the fingerprint of the planned one; None if it does. Raises IDIVM-106 and IDIVM-107."""
    before, now = stored.state.plan if stored.state else {}, planned.fingerprint
    changed = [part for part in now if before.get(part) != now[part]]
    if not changed:
        return None
    if changed == [LAYOUT]:
        if job.config.on_configuration_change == "fail":
            raise IdivmError(finding(106, view=job.request.relation))
        return finding(415)
    if job.config.on_schema_change == "fail":
        yield from _same_columns(job)
    if "sql" in changed:
        return finding(402, what="another SELECT")
    if "functions" in changed:
        return finding(402, what="another definition of a function that it calls")
    for setting in ("ansi", "time_zone"):
        if setting in changed:
            return finding(409, setting=setting, before=before.get(setting, ""), now=now[setting])
    if had_no_plan(before, now):
        return finding(426)
    if "keys" in changed and (other := (yield from _other_keys(job, stored.table, planned))) is not None:
        return other
    if "inputs" in changed:
        return (yield from _changed_columns(job.client, stored.table, planned.used))
    if CACHES in changed:
        return finding(402, what="other caches")
    if TIES in changed:
        return finding(402, what="other columns that order tied rows")
    return finding(402, what="another set of stored columns")


def kept_layout(job: Job, stored: StoredView, now: Mapping[str, str]) -> Mapping[str, str]:
    """The fingerprint under `on_configuration_change: continue`: the table keeps its layout, and its state says so."""
    before = (stored.state.plan if stored.state else {}).get(LAYOUT)
    if job.config.on_configuration_change != "continue" or before in (None, now[LAYOUT]):
        return now
    warning = (
        f"{job.request.name}: the table's configuration changed; the table stays as it was created "
        "(`on_configuration_change: continue`) until it is rebuilt"
    )
    if warning not in job.warnings:  # once for the view and its caches
        job.warnings.append(warning)
    return {**now, LAYOUT: before}


def _same_columns(job: Job) -> Steps[None]:
    """Raise IDIVM-107 if the SELECT no longer has the columns of its relation (names, order and types)."""
    stored = yield from describe(job.client, job.request.relation)
    before = {a.name: a.type for a in stored.columns} if stored else {}
    now = dict((yield from job.client.columns(job.request.sql)))
    if list(before.items()) != list(now.items()):
        raise IdivmError(
            finding(107, view=job.request.relation, before=listed_columns(before.items()), now=listed_columns(now.items()))
        )


def _other_keys(job: Job, table: str, planned: Planned) -> Steps[Finding | None]:
    """That the stored view was built from other keys; None if a column that it was built from is gone or has another type. A plan
    with another key reads other columns, although no input has changed."""
    facts = yield from describe(job.client, table)
    properties = facts.properties if facts else {}
    used, keys = properties.get(INPUTS, {}), properties.get(KEYS, {})
    if not are_there(used, {name: found.facts.columns for name, found in planned.inputs.tables.items()}):
        return None
    keys_now = {name: list(key.columns) for name, key in planned.keys.items() if name in planned.own_inputs}
    changed = [
        f"{job.request.input_names.get(name, name)}: {_key(keys.get(name))}, now {_key(keys_now.get(name))}"
        for name in {**keys, **keys_now}
        if keys.get(name) != keys_now.get(name)
    ]
    return finding(402, what=f"other keys ({'; '.join(changed)})" if changed else "other keys")


def _key(columns: Sequence[str] | None) -> str:
    return f"({', '.join(columns)})" if columns else "none"


def _changed_columns(client: Client, table: str, used: Mapping[str, Mapping[str, str]]) -> Steps[Finding]:
    facts = yield from describe(client, table)
    before = facts.properties.get(INPUTS, {}) if facts else {}
    changed = [name for name, columns in used.items() if before.get(name) != columns]
    moved = [name for name, columns in used.items() if list(before.get(name, ())) != list(columns)]
    for name in (*changed, *moved):
        return finding(
            412, source=name, before=listed_columns(before.get(name, {}).items()), now=listed_columns(used[name].items())
        )
    return finding(402, what="other inputs")

"""The common part of a refresh and its forecast: how they start, what they observe, and how they fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from dbt_idivm.definition.config import model_config
from dbt_idivm.definition.fingerprint import LAYOUT
from dbt_idivm.definition.found_keys import candidates
from dbt_idivm.definition.keys import without_declared_key
from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding, IdivmError, finding, listed
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.apply import caches
from dbt_idivm.refresh.apply.confirm import Exchanged, exchanged
from dbt_idivm.refresh.apply.watermark import Outnumbered, is_due
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.clock import Clock, clock_of, moved_clock
from dbt_idivm.refresh.catalog.inputs import look_up, table_of
from dbt_idivm.refresh.catalog.plain_views import known_view
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.state import Kept
from dbt_idivm.refresh.catalog.stored_view import (
    StoredView,
    is_as_refreshed,
    read_stored_log,
    read_stored_view,
    shows_its_table,
)
from dbt_idivm.refresh.catalog.user_functions import describe_function
from dbt_idivm.refresh.checks.found_keys import find_keys
from dbt_idivm.refresh.decide.difference import request_digest
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.observe import Observed, observe_stored
from dbt_idivm.refresh.decide.outcome import Result, named, outcome
from dbt_idivm.refresh.decide.planning import plan_model
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import CONCURRENT
from dbt_idivm.refresh.engine.ledger import NotAlone
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps, T
from dbt_idivm.refresh.protocol import InputChange, Outcome
from dbt_idivm.refresh.upkeep.constraints import VIOLATED, loosen
from dbt_idivm.script.plan import Cache

_TOO_OLD = ("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",)
_NO_REPLACE = ("UNSUPPORTED_FEATURE.TABLE_OPERATION",)


def run(request: ModelRequest, client: Client, work: Callable[[Job, StoredView], Steps[T]]) -> Steps[T]:
    """Run `work` on the stored view, and once more if it was overtaken by others. Raises only IdivmError."""
    stored = StoredView(request.relation)
    try:
        job = Job(client, request, model_config(request.config), client.warnings)
        stored = yield from _stored(job)
        try:
            return (yield from work(job, stored))
        except EngineFailure as failure:
            loosened = failure.is_any(VIOLATED) and (
                yield from loosen(client, stored.table, request.checks, every=request.full_refresh)
            )
            if failure.is_any(_TOO_OLD):
                # a pinned version that others have superseded cannot be read once it is too old: pin again, once
                yield from _pin_again(job, "the versions of this run can no longer be read")
            elif not loosened:
                tables = yield from _replaced_meanwhile(client)
                if not tables:
                    raise
                _read_from_the_beginning(job, tables)
        except caches.Overtaken:
            yield from _pin_again(job, "another run refreshed a cache further")
        except NotAlone as found:
            if request.existing is None:
                raise
            # its rows may be wrong, so they are replaced now and not by the next run
            client.invocation.forget(found.table)
            job.warnings.append(f"{request.name}: {found.table} was written twice at the same time, and is rebuilt")
        except Exchanged as found:
            _read_from_the_beginning(job, found.tables)
        except Outnumbered as found:
            client.remade.add(found.table)
            client.invocation.forget(found.table)
        except IdivmError:  # it may be about rows of a replaced table: then try again instead of reporting it
            tables = yield from _replaced_meanwhile(client)
            if not tables:
                raise
            _read_from_the_beginning(job, tables)
        job, stored = yield from _looked_up_again(job, stored)
        return (yield from work(job, stored))
    except IdivmError as error:
        raise error.of_model(request.name) from error
    except EngineFailure as failure:
        raise IdivmError(_engine_finding(failure, stored, request.sql)).of_model(request.name) from failure


def _replaced_meanwhile(client: Client) -> Steps[tuple[str, ...]]:
    """Tables that were replaced since the beginning of the refresh, which may be why a statement failed."""
    try:
        return (yield from exchanged(client))
    except EngineFailure:  # report the first failure only
        return ()


def _read_from_the_beginning(job: Job, exchanged: Sequence[str]) -> None:
    """Start again for tables that were replaced by others: they are looked up again, and whatever was built from the former ones
    is rebuilt, with the reason that any later run would give."""
    client = job.client
    client.based_on.clear()
    client.remade.update(exchanged)
    client.invocation.forget(*exchanged)
    job.warnings.append(
        f"{job.request.name}: while it was refreshed, others dropped or replaced {listed(exchanged)}; what is "
        "there now is read from the beginning"
    )


# Wrong without it: a migration to a changed definition has its own commit. Then the rows no longer have the state that was read
# before. They are in another table if the need for hidden columns has changed.
def _looked_up_again(job: Job, stored: StoredView) -> Steps[tuple[Job, StoredView]]:
    """The job and the stored view, looked up again after a failed refresh, which may have written something."""
    client, model = job.client, job.request.relation
    client.invocation.forget(stored.table, model)
    facts = yield from client.once(("facts", model), lambda: describe(client, model))
    existing: Literal["table", "view"] | None = None if facts is None else "view" if facts.kind == "view" else "table"
    job = replace(job, request=replace(job.request, existing=existing))
    return job, (yield from _stored(job))


def _stored(job: Job) -> Steps[StoredView]:
    return (yield from (read_stored_view if job.config.keeps_view else read_stored_log)(job.client, job.request))


def nothing_new(job: Job, stored: StoredView) -> Steps[Outcome | None]:
    """A no-op according to version numbers alone: the same request, and no input has a newer version. None otherwise."""
    state = stored.state
    usable = stored.reason is None and stored.shown and not job.request.full_refresh
    if state is None or not usable or state.volatile or state.request != request_digest(job):
        return None
    if state.plan.get(LAYOUT) != job.config.layout:
        return None
    for name, consumed in state.inputs.items():
        if name != consumed.table and not (yield from _is_still(job.client, name, consumed.table)):
            return None
        try:
            pinned = yield from history.pinned(job.client, consumed.table)
        except EngineFailure:
            return None
        if not pinned.is_it(consumed.version, consumed.at):
            return None
    if state.clock is not None and (yield from _has_moved(job.client, state.clock)):
        return None
    # Wrong without it: rows that others wrote to a cache before the view read it would stay in the view until an input changes.
    for cache in state.caches:
        if not (yield from is_as_refreshed(job.client, cache)):
            return None
    for name, known in state.views.items():
        facts = yield from job.client.once(("facts", name), lambda name=name: describe(job.client, name))  # type: ignore[misc]
        if facts is None or facts.text is None or known != known_view(job.client.engine, name, facts):
            return None
    for name, digest in state.functions.items():
        if (yield from describe_function(job.client, name)).digest != digest:
            return None
    if is_due(job, stored, {}, {}):
        return None
    assert stored.latest is not None
    history.pin(job.client, stored.table, stored.latest)
    found = state.caches
    job.client.invocation.use(job.request.relation, found)
    inputs = {
        named(job.request, name): InputChange(consumed.version, consumed.version, 0)
        for name, consumed in state.inputs.items()
        if name not in found
    }
    return outcome(job, Result("noop", stored.table != job.request.relation, inputs, caches=found))


def _has_moved(client: Client, before: Clock) -> Steps[bool]:
    """Whether an expression of the clock has another value than that which the rows were computed from."""
    read = tuple(Attribute(name, kind) for name, kind in before.types.items())
    try:
        return moved_clock(before, (yield from clock_of(client, read))) is not None
    except (EngineFailure, IdivmError):  # planning reports it
        return True


# Wrong without it: the table behind a view of ours may still exist, unchanged, although another relation has the view's name or
# others have given the view another query.
def _is_still(client: Client, name: str, table: str) -> Steps[bool]:
    """Whether the relation `name` still shows the rows of `table`."""
    facts = yield from client.once(("facts", name), lambda: describe(client, name))
    if facts is None or table_of(name, facts) != table:
        return False
    return not facts.is_model_view or (yield from shows_its_table(client, facts))


def observed(job: Job, stored: StoredView) -> Steps[Observed]:
    """The view as planned and as stored."""
    planned = yield from plan_model(job, stored)
    return (yield from observe_stored(Work(job, stored, planned)))


def reading_cache(view: Observed, cache: Cache, before: StoredView, inputs: Mapping[str, InputChange]) -> Steps[Observed]:
    """Add a refreshed cache to the inputs of the view. `before`: the stored cache before its refresh."""
    planned = yield from caches.read(view.work.job, view.work.planned, cache, before, inputs)
    return replace(view, work=replace(view.work, planned=planned))


def warn_of_uncached(work: Work) -> None:
    """Warn of caches that the config names, and that the view does not have, because a key that nobody declared is missing."""
    job = work.job
    for each in work.planned.uncached:
        name, tables = each.details["name"], each.details["tables"]
        job.warnings.append(
            f"{job.request.name} is maintained without the cache `{name}` ({each.code}): a key of {tables} is neither declared "
            "nor found in its data"
        )


def keeping(view: Observed, kept: Kept, why: Finding) -> Steps[Observed]:
    """The view with other caches, to be rebuilt for the reason `why`."""
    work = view.work
    planned = yield from plan_model(work.job, work.stored, kept, work.planned.found)
    return Observed(Work(work.job, work.stored, planned), why)


def with_found_keys(view: Observed, why: Finding, found: Mapping[str, tuple[str, ...]] | None = None) -> Steps[Observed]:
    """The view with the keys that nobody has declared and that its inputs have now, to be rebuilt for the reason `why`. `found`:
    these keys, if they are not to be looked for."""
    work = view.work
    if found is None:
        found = yield from _found_keys(work)
    if found == work.planned.found:
        return replace(view, reason=why)
    return Observed(Work(work.job, work.stored, (yield from plan_model(work.job, work.stored, found_keys=found))), why)


def _found_keys(work: Work) -> Steps[dict[str, tuple[str, ...]]]:
    """Look for keys of the inputs of which none is declared. Without a plan only if there may be one with such keys: some
    columns and subqueries are refused without a key."""
    job, planned = work.job, work.planned
    if not job.config.looks_for_keys:
        return {}
    open_ = without_declared_key(job.request, job.config.keys, planned.inputs.for_definition)
    supposed = {each.name: keys[0] for each in open_ if (keys := candidates(each))}
    plan = planned.plan
    if plan is None and supposed:
        with suppress(IdivmError):
            plan = (yield from plan_model(job, work.stored, found_keys=supposed)).plan
    read = plan.base_tables if plan is not None else ()
    return (yield from find_keys(job.client, planned.inputs.tables, [each for each in open_ if each.table in read]))


def _pin_again(job: Job, why: str) -> Steps[None]:
    inputs = yield from look_up(job.client, job.request.sql)
    tables = [found.table for found in inputs.tables.values()]
    job.client.invocation.forget(*tables, *inputs.tables)
    job.warnings.append(f"{job.request.name} reads newer versions of {', '.join(tables)} than the models before it: {why}")


def _engine_finding(failure: EngineFailure, stored: StoredView, sql: str) -> Finding:
    message = failure.sentence.rstrip(".")
    if failure.is_any(CONCURRENT):
        return finding(903, view=stored.table, message=message, state=stored.sentence)
    if failure.is_any(_NO_REPLACE) and failure.statement.kind == "write":
        return finding(506, view=stored.table, message=failure.first_line.rstrip(".;"), state=stored.sentence)
    return finding(902, failure.place_in(sql), statement=failure.statement.label, message=message, state=stored.sentence)

"""`output: diffs`: no view is stored. Changes of its rows are appended to a log, and the model is a plain view over its SELECT.

The log takes the place of the view's table: its commits carry the state, and each is guarded like a MERGE into a view. An
incremental refresh appends the net tuples that follow from the changes of the inputs (`script/logged_tuples.py`). A rebuild
appends the difference between the query's rows and the rows that the log replays to.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_idivm.algebra.block import subquery
from dbt_idivm.definition.fingerprint import LAYOUT
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.refresh.apply import statements
from dbt_idivm.refresh.apply.change_log import append_difference, begin, entry_of, find_log
from dbt_idivm.refresh.apply.publish import Build
from dbt_idivm.refresh.catalog.relations import DEFINITION, LOG, OWNER, SHOWN, describe
from dbt_idivm.refresh.changes.read import Changes
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.decide.outcome import Result, outcome
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.steps import Steps
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.relation_name import LOG_SUFFIX, with_suffix
from dbt_idivm.script.logged_tuples import LoggedTuples
from dbt_idivm.script.tuple_based import Tuples


def logging(work: Work, done: Tuples, changes: Changes) -> LoggedTuples:
    """The application as one that appends to the log."""
    versions = {found.table: changes.versions[found.table] for found in work.planned.own_inputs.values()}
    return LoggedTuples.of(done, entry_of(work.stored, versions))


def publish_changes(job: Job, wanted: Build) -> Steps[int]:
    """Append to the log until it replays to the query's rows, and make the model's relation a view over its SELECT. Returns the
    number of rows appended."""
    asked = yield from job.client.ask(job.client.commands.describe_query(job.request.sql))
    columns = tuple(Attribute(str(row[0]), str(row[1])) for row in asked.rows)
    log = yield from find_log(job, wanted.table, columns)
    versions = wanted.state.base_versions
    rows = subquery(wanted.query, "definition")
    if not log.continues:
        written = yield from begin(log, rows, wanted.state, versions)
    else:
        assert log.stored.latest is not None
        before = log.stored.state
        if before is not None and before.plan.get(LAYOUT) not in (None, wanted.state.plan.get(LAYOUT)):
            job.warnings.append(
                f"{job.request.name}: the table's configuration changed; the log of its changes stays as it was created"
            )
        state = replace(wanted.state, base=log.stored.latest.version)
        written = yield from append_difference(log, rows, state, versions)
    yield from show_query(job, wanted.state.shown)
    return written


def show_query(job: Job, shown: str) -> Steps[None]:
    """Make the model's relation a plain view over its SELECT. `shown` identifies the state of the log that has the same query."""
    client, model = job.client, job.request.relation
    there = yield from describe(client, model)
    log = with_suffix(model, LOG_SUFFIX)
    if there is not None and there.properties.get(LOG) == log and there.properties.get(SHOWN) == shown != "":
        return
    if there is not None and there.kind == "table":
        yield from client.ask(client.commands.drop("table", model))
    properties = {LOG: log, OWNER: job.request.owner, SHOWN: shown, DEFINITION: job.request.sql}
    yield from client.ask(statements.create_query_view(job.dialect, model, job.request.sql, properties))
    client.invocation.forget(model)


def show_restricted(job: Job, result: Result) -> Steps[Outcome]:
    """Under --empty or --sample: make the model a view over the limited query, and leave the log alone."""
    yield from show_query(job, "")
    log = with_suffix(job.request.relation, LOG_SUFFIX)
    there = yield from describe(job.client, log)
    done = outcome(job, result)
    return done if there is not None else replace(done, relations=done.relations[:1])

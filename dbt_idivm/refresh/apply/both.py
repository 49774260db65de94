"""`output: both`: the view is stored together with a log of its changes. Changes since the log's last commit are appended to it.

The view's own commit comes first. The state in the log's commit records the version of the view's table that it was written from,
so the next refresh appends what an interrupted one left out. The changes come from the change data feed of the view's table;
where that cannot be used, from the difference between the table and the rows that the log replays to.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_idivm.refresh.apply.change_log import Log, append, append_difference, begin, find_log
from dbt_idivm.refresh.apply.compaction import compact
from dbt_idivm.refresh.apply.watermark import writes_after
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.state import Consumed, State
from dbt_idivm.refresh.catalog.stored_view import StoredView, read_stored_view
from dbt_idivm.refresh.changes.moves import commits_since, move_over
from dbt_idivm.refresh.changes.proving import GAP, doubted
from dbt_idivm.refresh.changes.unreadable_text import has_unreadable_text
from dbt_idivm.refresh.decide.job import Job
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Outcome
from dbt_idivm.relation_name import LOG_SUFFIX, name_parts, with_suffix
from dbt_idivm.script.change_log import changes_in_feed
from dbt_idivm.script.dialect import may_hold_text
from dbt_idivm.script.diff import FeedDiff

OUTPUT = "output"  # key in the state of a log: the output setting that the log was written for
_FED = frozenset({"WRITE", "MERGE", "UPDATE", "DELETE"})  # operations of refreshes that do not replace the table


def keep_log(job: Job, done: Outcome) -> Steps[Outcome]:
    """Append the view's changes to its log, and return the outcome with the log added. If the view's state cannot be built upon,
    the log is left alone, because the next refresh rebuilds the view."""
    request = replace(job.request, existing=done.relations[0][2])
    table = with_suffix(request.relation, LOG_SUFFIX)
    view = yield from read_stored_view(job.client, request)
    facts = yield from describe(job.client, request.relation)
    if view.state is None or view.reason is not None or not view.shown or facts is None:
        is_there = name_parts(table)[-1].lower() in {name.lower() for name in job.request.neighbours}
        return _with_log(done) if is_there else done
    log = yield from find_log(job, table, facts.columns)
    rows = yield from _bring_up_to_date(log, view, view.state)
    if rows is not None:
        yield from compact(job, log.stored)
    return _with_log(done, rows)


def _with_log(done: Outcome, rows: int | None = None) -> Outcome:
    schema, name, _ = done.relations[0]
    message = done.message if rows is None else f"{done.message}, {rows} row{'' if rows == 1 else 's'} to its log"
    return replace(done, relations=(*done.relations, (schema, name + LOG_SUFFIX, "table")), message=message)


def _bring_up_to_date(log: Log, view: StoredView, of_view: State) -> Steps[int | None]:
    """Append what is missing in the log. Returns the number of rows written; None if the view has not changed since the last
    append."""
    job, shown = log.job, view.committed
    assert shown is not None
    before = log.stored.state.inputs.get(view.table) if log.stored.state is not None else None
    before = before if log.continues and log.stored.reason is None else None
    if before is not None and shown.is_it(before.version, before.at):
        return None
    if before is not None and before.version > shown.version:
        # another run has brought both further; or the table was dropped and created again
        if (yield from commits_since(job.client, before, shown)) is not None:
            return None
        before = None
    latest = log.stored.latest
    job.client.rely(view.table, shown.version, shown.at)
    state = State(
        {view.table: Consumed(view.table, shown.version, shown.at)},
        {OUTPUT: "both"},
        run=job.request.run_id,
        base=latest.version if log.continues and latest is not None else None,
        writes=writes_after(log.stored if log.continues else None),
    )
    versions = of_view.base_versions
    rows = job.dialect.table(view.table, shown.version)
    if not log.continues:
        return (yield from begin(log, rows, state, versions))
    if before is not None:
        feed = yield from _feed(log, before, view, shown)
        if feed is not None:
            try:
                return (yield from append(log, changes_in_feed(job.dialect, feed, log.columns), state, versions))
            except EngineFailure as failure:
                if not failure.is_any(GAP):
                    raise
    return (yield from append_difference(log, rows, state, versions))


def _feed(log: Log, before: Consumed, view: StoredView, shown: Commit) -> Steps[FeedDiff | None]:
    """The view's changes since the log's last commit, from its change data feed; None if the feed cannot be used."""
    client = log.job.client
    commits = yield from commits_since(client, before, shown)
    if commits is None:
        return None
    move = yield from move_over(client, before, shown.version, shown.at, commits)
    if not all(each.operation in _FED or each.is_quiet for each in move.commits):
        return None
    feed = FeedDiff(view.table, before.version, shown.version, False)
    texts = tuple(each.name for each in log.columns if may_hold_text(each.type))
    try:
        if (yield from doubted(client, move)) is not None:
            return None
        unreadable = yield from has_unreadable_text(client, feed, texts)
    except EngineFailure as failure:
        if failure.is_any(GAP):
            return None
        raise
    return None if unreadable else feed

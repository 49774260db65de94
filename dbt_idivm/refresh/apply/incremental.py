"""Apply an incremental refresh: one MERGE, INSERT, UPDATE or DELETE, whose commit carries the view's rows and its state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.definition.request import ModelRequest
from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.scan import CLOCK
from dbt_idivm.refresh.apply.diffs import logging
from dbt_idivm.refresh.apply.source import fetched_source, reached_rows
from dbt_idivm.refresh.apply.watermark import consumed, guard_of, move_watermark, new_state, not_applied, own_commit, unchanged
from dbt_idivm.refresh.catalog.clock import values_of
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.catalog.stored_view import StoredView
from dbt_idivm.refresh.changes.proving import GAP
from dbt_idivm.refresh.changes.read import Changes, gap
from dbt_idivm.refresh.changes.verify_keys import verify_changes
from dbt_idivm.refresh.checks import keys
from dbt_idivm.refresh.decide.choose import Ready
from dbt_idivm.refresh.decide.outcome import Effect, Result, named, outcome
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.refresh.decide.work import Work
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.scoped import committed, staged, temporarily
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import InputChange, Outcome, Rows, Statement
from dbt_idivm.script.binding import Binding, Staged
from dbt_idivm.script.diff import FeedDiff, InlineDiff
from dbt_idivm.script.found_rows import Reach
from dbt_idivm.script.key_ranges import MANY_ROWS
from dbt_idivm.script.merge import OP
from dbt_idivm.script.render import BoundQuestion, BoundScript, ask, render, render_keyed, render_rows
from dbt_idivm.script.replace_where import KeyedSource, Replacing
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.tuple_based import Tuples
from dbt_idivm.script.ways import Application, Write

# Delta's error for a source row with only NULL IDs that matches nothing and has no clause, under deletion vectors (ADR 0018).
UNMATCHED = "did not match any merge clause"
LARGE = 300_000  # rows of a view from which the settings for large MERGEs are used
# A source that was estimated to be small is too large for a broadcast, or the broadcast timed out.
_TOO_LARGE = re.compile(r"broadcast|maxResultSize", re.IGNORECASE)
# Delta is configured to replace whole partitions only (`spark.databricks.delta.replaceWhere.dataColumns.enabled`).
_ONLY_PARTITIONS = ("DELTA_NON_PARTITION_COLUMN_REFERENCE", "DELTA_NON_PARTITION_COLUMN_SPECIFIED")
_VERBS: Mapping[type[exp.Expr], str] = {
    exp.Merge: "merge into",
    exp.Insert: "append to",
    exp.Update: "update",
    exp.Delete: "delete from",
}
_AMBIGUOUS = ("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",)


@dataclass(frozen=True)
class Unreached:
    """Nothing was applied: of these tables the rows that were `wanted` are too many to be found, or values of them fail that the
    view does not have, as in a group of which only some rows are reached."""

    wanted: Reach


def apply_changes(work: Work, ready: Ready) -> Steps[Outcome | Finding | Unreached]:
    """Apply the refresh. Returns its outcome, or why it has to be decided again, or the reason why a rebuild is needed after all.
    Raises IDIVM-305, 306 and 903, and BrokenKey."""
    changes, job, stored, planned = ready.changes, work.job, work.stored, work.planned
    if ready.application is None:
        yield from verify_changes(job.client, changes.unchecked, job.config.verify, {})
        return (yield from unchanged(work, changes.moves))
    new = new_state(work, consumed(planned, changes.moves), stored)
    asked, reached = question(work, ready), dict[str, SourceRows]()
    wanted = ready.wanted if asked is None else {}
    if wanted:
        reached = yield from reached_rows(job.client, wanted, _binding(work, ready))
        if reached.keys() < wanted.keys():
            return Unreached({table: each for table, each in wanted.items() if table not in reached})
    found = {table: (wanted[table], rows) for table, rows in reached.items()}
    yield from verify_changes(job.client, changes.unchecked, job.config.verify, found)
    try:
        script, effect = yield from (
            _applied(work, ready, new, reached)
            if asked is None
            else staged(job.client, asked.staged, _answered(work, ready, asked, new))
        )
    except EngineFailure as failure:
        if ready.few and _TOO_LARGE.search(failure.error.message):
            return (yield from apply_changes(work, replace(ready, few=False, fetched="nothing")))
        if wanted and failure.is_of_data:
            return Unreached(wanted)
        if ready.fetched != "nothing" and failure.is_any(_ONLY_PARTITIONS):
            return (yield from apply_changes(work, replace(ready, fetched="nothing")))
        return (yield from _failed(job.client, planned, changes, failure))
    job.client.invocation.forget(stored.table)
    inputs = input_changes(job.request, planned, changes)
    how, clock = strategy(planned, script.application), CLOCK in changes.net.diffs
    return outcome(job, Result("incremental", planned.hidden, inputs, effect, *how, clock=clock), planned)


def _answered(work: Work, ready: Ready, asked: BoundQuestion, new: State) -> Steps[tuple[BoundScript, Effect]]:
    """Ask the application's question, and apply the answered application. Relations staged for the question are reused."""
    found = yield from work.job.client.read(asked.source.query, f"what is lost in {work.stored.table}")
    application = asked.application.answered(asked.source.answered(found.rows))
    return (yield from _applied(work, replace(ready, application=application, form=None), new, {}, asked.staged))


def _applied(
    work: Work, ready: Ready, new: State, reached: Mapping[str, SourceRows], there: tuple[Staged, ...] = ()
) -> Steps[tuple[BoundScript, Effect]]:
    """Apply the form of the application for the `reached` rows of tables. `there`: relations that are already staged. Returns the
    script and its effect on the view."""
    script = _rendered(work, ready, _form(work, ready), reached)
    missing = [each for each in script.staged if each not in there]
    effect = yield from staged(work.job.client, missing, _write(work, script, new))
    return script, effect


def _write(work: Work, script: BoundScript, new: State) -> Steps[Effect]:
    """Run the script's statement, or the simpler one that follows from its source rows or keys if these can be fetched."""
    client, table = work.job.client, work.stored.table
    if script.keyed is not None and not (yield from _are_in_order(work)):
        script = replace(script, keyed=None)
    source = None if script.source is None else (yield from fetched_source(client, script.source, f"changes of {table}"))
    if source is None and script.keyed is not None:
        return (yield from staged(client, (script.keyed_rows,), _write_keyed(work, script, script.keyed, new)))
    statement = script.statement if source is None else render_rows(script, source, work.job.dialect)
    return (yield from _run(work, statement, new, source))


def _are_in_order(work: Work) -> Steps[bool]:
    """Whether the stored columns are in the plan's order. REPLACE WHERE assigns values by position, and a user may have moved a
    column."""
    client, table, plan = work.job.client, work.stored.table, work.planned.plan
    assert plan is not None
    facts = yield from client.once(("facts", table), lambda: describe(client, table))
    return facts is not None and [each.name for each in facts.columns] == list(plan.names)


def _write_keyed(work: Work, script: BoundScript, keyed: KeyedSource, new: State) -> Steps[Effect]:
    """As `_write`, for a staged source whose keys are fetched."""
    keys = yield from fetched_source(work.job.client, keyed.keys, f"keys of changes of {work.stored.table}")
    return (yield from _run(work, render_keyed(script, keys, work.job.dialect), new, keys))


def _run(work: Work, statement: Write | Replacing | None, new: State, source: SourceRows | None) -> Steps[Effect]:
    """Run the writing statement, or move the watermark if there is none. `source`: the fetched rows or keys that it applies, if
    known."""
    if statement is None:
        yield from move_watermark(work, new)
        return Effect()
    if not isinstance(statement, Replacing):
        return (yield from _run_write(work, statement, new, source))
    asked, found, then = None, None, statement.asks()
    while then is not None:
        asked = then
        found = yield from fetched_source(work.job.client, asked, f"rows beside the changed ones of {work.stored.table}")
        then = statement.asks(asked, found)
    again = len(found.rows) if found is not None and asked is statement.inserted else 0
    return (yield from _run_write(work, statement.statement(asked, found, work.job.dialect), new, source, again))


def _run_write(work: Work, statement: Write, new: State, source: SourceRows | None, again: int = 0) -> Steps[Effect]:
    """As `_run`. `again`: the number of rows that a REPLACE WHERE deletes and inserts again as they were."""
    job, stored, client = work.job, work.stored, work.job.client
    replaces = isinstance(statement, exp.Insert) and statement.args.get("where") is not None
    label = f"{'replace rows of' if replaces else _VERBS[type(statement)]} {stored.table}"
    write = committed(
        client, Statement(job.dialect.sql(statement), "write", label, tree=statement), stored.table, new.json(), guard_of(stored)
    )
    size = work.planned.sizes.get(stored.table)
    if isinstance(statement, exp.Merge) and size is not None and size.rows >= LARGE:
        write = temporarily(client, client.engine.large_merge, write, needed=False)
    effect = _effect(statement, (yield from write), len(source.rows) if source is not None else 0)
    if effect is None:
        done = yield from _committed(client, stored, new)
        return _replaced(source, replace(done, deleted=done.deleted - again)) if replaces and source is not None else done
    if client.engine.ledger is None and isinstance(statement, exp.Update | exp.Delete) and effect == Effect():
        yield from move_watermark(work, new)  # Delta writes no commit then
    return effect


def rendered(work: Work, ready: Ready) -> BoundScript | None:
    """The script of the refresh; None if nothing in the view changes."""
    return None if ready.application is None else _rendered(work, ready, _form(work, replace(ready, form=None)), {})


def _rendered(work: Work, ready: Ready, done: Application, reached: Mapping[str, SourceRows]) -> BoundScript:
    assert work.planned.plan is not None
    binding = replace(_binding(work, ready), reached=reached)
    return render(work.planned.plan, done, binding, work.stored.table, fetched=ready.fetched)


def _form(work: Work, ready: Ready) -> Application:
    """The form of the application; under `output: diffs`, the one that appends the view's changes to its log."""
    application = ready.form or ready.application
    assert application is not None
    if work.planned.keeps_view:
        return application
    assert isinstance(application, Tuples)
    return logging(work, application, ready.changes)


def question(work: Work, ready: Ready) -> BoundQuestion | None:
    """The question that has to be answered before the statement can be rendered; None if there is none."""
    assert work.planned.plan is not None and ready.application is not None
    return ask(work.planned.plan, ready.application, _binding(work, ready), work.stored.table)


def _binding(work: Work, ready: Ready) -> Binding:
    large = frozenset(table for table, size in work.planned.sizes.items() if size.rows >= MANY_ROWS)
    return Binding(
        ready.changes.versions,
        ready.changes.net,
        work.job.dialect,
        few=ready.few,
        ranges=ready.changes.ranges,
        large=large,
        clock=values_of(work.planned.clock),
    )


def strategy(planned: Planned, application: Application) -> tuple[str, str | None]:
    """Strategy of the refresh (`tuple`, `id` or `recompute`), and a note on what was recomputed."""
    by_tuples = planned.plan is not None and planned.plan.way("id") is None and planned.plan.way("tuple") is not None
    if application.way == "tuple" or by_tuples:
        return "tuple", None
    if application.way == "topk":
        return "id", "the first rows of touched partitions were ranked again"
    if application.way == "tail" and not application.recomputed:
        return "id", "new rows continued the values of the last stored rows of their partitions"
    if application.original is not application:
        return "recompute", "the query was evaluated over the rows that the changes reach, as they were and as they are"
    if application.way == "whole":
        return "recompute", "the whole view was recomputed, and what differs was applied"
    if not application.recomputed:
        return "id", None
    parts = [f"{diff.name} by ({', '.join(diff.ids) or 'all'})" for diff in application.recomputed]
    return "recompute", "part of the view was recomputed: " + "; ".join(parts)


def _effect(statement: Write, rows: Rows, keys: int) -> Effect | None:
    """Effect of the statement on the view; None if the reply does not say: Delta skipped the write because its number was used
    already, or it is an INSERT (only Databricks returns counts, and not whether rows were replaced).

    `keys`: number of keys that an UPDATE or DELETE names. It is used where Delta returns -1, because it removed whole files
    without statistics.
    """
    if not rows.rows or isinstance(statement, exp.Insert):
        return None
    found = rows.dicts()[0]
    if isinstance(statement, exp.Update | exp.Delete):
        affected = int(found["num_affected_rows"])
        affected = keys if affected < 0 else affected
        return Effect(updated=affected) if isinstance(statement, exp.Update) else Effect(deleted=affected)
    if "num_inserted_rows" not in found:
        return None
    return Effect(int(found["num_inserted_rows"]), int(found["num_updated_rows"]), int(found["num_deleted_rows"]))


def _replaced(source: SourceRows, done: Effect) -> Effect:
    """The effect of a REPLACE WHERE, in view rows: the commit counts an update as one deleted and one inserted row. Where Delta
    records no metrics, no row counts as updated."""
    left = sum(source.cell(row, OP) == "D" for row in source.rows)
    updated = max(done.deleted - left, 0)
    return Effect(inserted=len(source.rows) - left - updated, updated=updated, deleted=left)


def _committed(client: Client, stored: StoredView, new: State) -> Steps[Effect]:
    """The effect as counted by the view's own commit, where the statement returns no counts. Raises IDIVM-903 without such a
    commit.

    A write is skipped either because the connection sent it twice, and then its commit exists, or because another run was faster.
    """
    assert stored.latest is not None
    commit = yield from own_commit(client, stored.table, stored.latest, new)
    if commit is None:
        raise (yield from not_applied(client, stored, stored.table, "its change was not applied"))
    return Effect(**commit.counts)


def _failed(client: Client, planned: Planned, changes: Changes, failure: EngineFailure) -> Steps[Finding]:
    """Map an engine error to a reason to rebuild; re-raise any other error. Raises IDIVM-305 if a key turns out not to be
    unique."""
    feeds = [table for table, diff in changes.net.diffs.items() if isinstance(diff, FeedDiff)]
    if failure.is_any(GAP) and feeds:
        moved = [changes.moves[table] for table in feeds]
        named_in = [move for move in moved if move.table in failure.error.message]
        return gap((named_in or moved)[0], failure)
    if failure.is_of_data or UNMATCHED in failure.error.message:
        # nothing is committed, and the query may evaluate for fewer rows what has failed; if not, the rebuild says so
        return finding(417, message=failure.first_line)
    if failure.is_any(_AMBIGUOUS):
        for name, key in planned.keys.items():
            yield from keys.verify(client, planned.inputs.tables[name], key)
    raise failure


def input_changes(request: ModelRequest, planned: Planned, changes: Changes) -> dict[str, InputChange]:
    """Inputs by their names in the user's SQL, with their version ranges and numbers of changed rows."""
    found = {}
    for name, each in planned.own_inputs.items():
        move, diff = changes.moves[each.table], changes.net.diffs.get(each.table)
        rows = 0 if diff is None else sum(abs(w) for _, w in diff.rows) if isinstance(diff, InlineDiff) else None
        through = planned.through.get(named(request, each.table))
        if diff is None and through is not None and through.from_version == move.consumed.version:
            rows = through.rows
        found[named(request, name)] = InputChange(move.consumed.version, move.to_version, rows)
    return found

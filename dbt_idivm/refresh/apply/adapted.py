"""Migrate the stored rows of a view to a new definition of it (ADR 0047).

The migration reads the table versions in the old state, and the new state keeps these versions. The refresh that follows then
brings the view up to date like any other refresh. There are these forms, depending on what the stored rows need:

- nothing: one commit without data gives the table the properties and the state of the new definition;
- rows have to be deleted or inserted, or constants moved: one DELETE, INSERT or MERGE, followed by that commit. Until then the
  state forbids refreshes to build upon the rows, so that the next run rebuilds them if this one is interrupted in between;
- anything else: one commit replaces the table by a query over its own rows. If the table gets another name, it is built beside
  the old one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dbt_idivm.adaptation.adapt import Adaptation
from dbt_idivm.adaptation.moved import Moved
from dbt_idivm.adaptation.statement import adapted_query, delete_rows, insert_rows
from dbt_idivm.errors import IdivmError, finding
from dbt_idivm.refresh.apply.build import planned_build, verify_unique_key
from dbt_idivm.refresh.apply.constants import bound_to, moving_statement
from dbt_idivm.refresh.apply.incremental import UNMATCHED
from dbt_idivm.refresh.apply.publish import Build, publish, show
from dbt_idivm.refresh.apply.statements import set_properties
from dbt_idivm.refresh.apply.watermark import guard_of, new_state, not_applied, own_commit
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.catalog.clock import clock_at
from dbt_idivm.refresh.catalog.history import Commit
from dbt_idivm.refresh.catalog.inputs import types_at
from dbt_idivm.refresh.catalog.relations import describe
from dbt_idivm.refresh.catalog.state import State
from dbt_idivm.refresh.changes.proving import GAP
from dbt_idivm.refresh.checks.keys import repeated_at
from dbt_idivm.refresh.decide.adapting import Adapting
from dbt_idivm.refresh.engine.scoped import committed
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import Rows, Statement
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.render import full_query


@dataclass(frozen=True)
class Taken:
    """Number of rows that the migration wrote, deleted, and updated in place."""

    written: int = 0
    deleted: int = 0
    updated: int = 0


def adapt_stored(how: Adapting) -> Steps[Taken | None]:
    """Migrate the stored rows, or return None with nothing written if a rebuild has to do it: a value fails, an old version is
    gone, or a key does not hold at an old version. Raises IDIVM-305 (for `unique_key`) and IDIVM-903."""
    work, stored = how.work, how.work.stored
    assert stored.latest is not None
    work.job.client.rely(stored.table, stored.latest.version, stored.latest.at)
    binding = Binding({**how.versions, stored.table: stored.latest.version}, dialect=work.job.dialect)
    try:
        if not (yield from _have_keys(how)):
            return None
        if isinstance(how.found, Moved):
            return (yield from _moved(how, how.found, binding))
        query = adapted_query(how.found, how.plan, binding)
        if not (yield from _has_the_types(how)) or not (yield from _has_the_columns(how, query, binding)):
            return None
        wanted = planned_build(work, how.plan, query, _new_state(how))
        yield from verify_unique_key(work.job, work.planned, wanted)
        if how.found.in_place and not (yield from _is_constrained(how)):
            statement = _in_place(how, how.found, binding)
            if statement is not None or how.found.is_nothing:
                return (yield from _kept(how, wanted, statement))
        # Wrong without it: under `on_configuration_change: continue` the state would say that the table has its former layout.
        how = replace(how, work=replace(work, planned=work.planned.laid_out(work.job.config.layout)))
        return Taken((yield from publish(work.job, planned_build(how.work, how.plan, query, _new_state(how)), stored)))
    except EngineFailure as failure:
        if failure.is_of_data or failure.is_any(GAP) or UNMATCHED in failure.error.message:
            return None
        raise


# Wrong without it: a key that has held only since then gives two stored rows the same ID, and deleting one of them deletes both.
def _have_keys(how: Adapting) -> Steps[bool]:
    """Whether the keys that the old view did not rely on hold at the versions to be read; the old view's own keys were verified
    for it. A rebuild verifies keys at the newest versions, and the two may differ. `trusted` keys hold for the newest commit
    only. Tables read through caches alone are left to those caches to check."""
    job, planned = how.work.job, how.work.planned
    for name, key in planned.keys.items():
        read, now = how.inputs[name], planned.inputs.tables[name]
        if read.table not in how.plan.tables or how.known_keys.get(name) == key.columns:
            continue
        if key.trusted and read.version == now.version:
            continue
        if (yield from repeated_at(job.client, replace(now, table=read.table), read.version, key)) is not None:
            return False
    return True


# Wrong without it: a column that was widened from INT to BIGINT since then keeps the former type in the migrated view forever.
def _has_the_types(how: Adapting) -> Steps[bool]:
    """Whether the columns that the old view did not read have the same types at the versions to be read as now."""
    client, inputs = how.work.job.client, how.work.planned.inputs.tables
    for name, columns in how.fresh_columns.items():
        read, now = how.inputs[name], inputs[name].commit
        assert now is not None
        try:
            before = yield from types_at(client, read.table, read.version, columns)
            if before != (yield from types_at(client, read.table, now.version, columns)):
                return False
        except EngineFailure:  # there was no such column, or the version is gone
            return False
    return True


def _has_the_columns(how: Adapting, query: exp.Select, binding: Binding) -> Steps[bool]:
    """Whether the engine accepts the query, and it has the same column names and types as a build of the new view."""
    client, found = how.work.job.client, []
    try:
        for each, name in ((query, "the adapted view"), (full_query(how.plan, binding), "the new view")):
            rows = yield from client.ask(client.commands.describe_query(client.dialect.sql(each), name))
            found.append([(str(row[0]), str(row[1])) for row in rows.rows])
    except EngineFailure:  # an old version is gone
        return False
    return found[0] == found[1]


# Wrong without it: rows of the new definition, written by this run or a later one, violate a CHECK of the former contract.
def _is_constrained(how: Adapting) -> Steps[bool]:
    """Whether the stored table has constraints. Replacing the table drops them, and those of the new contract are added
    afterwards."""
    client, table = how.work.job.client, how.work.stored.table
    facts = yield from client.once(("facts", table), lambda: describe(client, table))
    return facts is None or facts.is_constrained


def _new_state(how: Adapting) -> State:
    """State of the new definition at the table versions of the old state, with its known sizes and layouts of these tables."""
    before = how.state
    new = new_state(replace(how.work, note=replace(how.work.note, edits=how.found.summary)), how.inputs)
    tables = {each.table for each in how.inputs.values()}
    layouts = {**new.layouts, **{table: each for table, each in before.layouts.items() if table in tables}}
    return replace(new, sizes={table: size for table, size in before.sizes.items() if table in tables}, layouts=layouts)


def _moved(how: Adapting, found: Moved, binding: Binding) -> Steps[Taken | None]:
    """The migration to other constants. A table with constraints, or in another place, would have to be replaced by all rows."""
    client, table, before = how.work.job.client, how.work.stored.table, how.state.clock
    at = before.at if before is not None else client.invocation.time
    bound = yield from bound_to(client, found, binding, before, at)
    if bound is None or how.work.planned.table != table or (yield from _is_constrained(how)):
        return None
    if how.plan.clock:  # at the time of the stored rows
        clock = yield from clock_at(client, at, how.plan.clock)
        how = replace(how, work=replace(how.work, planned=replace(how.work.planned, clock=clock)))
        binding = replace(binding, clock=clock.values)
    work = how.work
    query = full_query(found.plan, bound)
    if not (yield from _has_the_types(how)) or not (yield from _has_the_columns(how, query, binding)):
        return None
    wanted = planned_build(work, how.plan, query, _new_state(how))
    yield from verify_unique_key(work.job, work.planned, wanted)
    tree = yield from moving_statement(client, found, bound, table)
    label = f"move constants of {table}"
    statement = None if tree is None else Statement(client.dialect.sql(tree), "write", label, fetch=True, tree=tree)
    return (yield from _kept(how, wanted, statement))


def _in_place(how: Adapting, found: Adaptation, binding: Binding) -> Statement | None:
    """The one DELETE or INSERT that migrates the table in place; None if none is needed, or the table has to be replaced."""
    table = how.work.stored.table
    if how.work.planned.table != table:
        return None
    dialect = how.work.job.dialect
    tree, others = delete_rows(found, dialect), insert_rows(found, how.plan, binding)
    if tree is not None and others is not None:
        return None
    if tree is not None:
        return Statement(dialect.sql(tree), "write", f"delete from {table}", fetch=True)
    return None if others is None else Statement(dialect.sql(others), "write", f"append to {table}", fetch=True)


def _kept(how: Adapting, wanted: Build, statement: Statement | None) -> Steps[Taken]:
    """Keep the table, run `statement` if there is one, and then store the new definition and state."""
    work, client, stored = how.work, how.work.job.client, how.work.stored
    table, latest = stored.table, stored.latest
    assert latest is not None
    state, taken = replace(wanted.state, base=latest.version), Taken()
    if statement is not None:
        draft = replace(state, trusted=False)
        rows = yield from committed(client, statement, table, draft.json(), guard_of(stored))
        written = yield from own_commit(client, table, latest, draft)
        if written is not None and written.version == latest.version + 1:
            state, taken = replace(state, base=written.version), _taken(how, written)
            client.rely(table, written.version, written.at)
        elif written is not None or not _is_of_none(rows):
            raise (yield from not_applied(client, stored, table, "somebody else wrote to it"))
    yield from committed(client, set_properties(client.dialect, table, wanted.properties), table, state.json())
    found: Commit | None = yield from own_commit(client, table, latest, state)
    if found is None:
        raise IdivmError(finding(903, view=table, message="its definition was not replaced", state=stored.sentence))
    if work.planned.hidden:
        yield from show(work.job, table, how.plan.visible, state)
    client.invocation.forget(work.job.request.relation, table)
    history.pin(client, table, found)
    return taken


def _taken(how: Adapting, written: Commit) -> Taken:
    if isinstance(how.found, Moved):  # a MERGE also writes the rows of its files that it does not change
        return Taken(*(written.counts[each] for each in ("inserted", "deleted", "updated")))
    return Taken(written.rows_written, written.counts["deleted"])


def _is_of_none(rows: Rows) -> bool:
    """Whether the result of a DELETE reports zero deleted rows. Delta may write no commit in that case."""
    return bool(rows.rows) and int(rows.dicts()[0].get("num_affected_rows", -1)) == 0

"""From a plan to one refresh: the applications of its ways for the net diffs, and the statement of one application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sqlglot import exp

from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import type_of
from dbt_idivm.cached import cached_property
from dbt_idivm.script.binding import Binding, Staged, StatementBinder
from dbt_idivm.script.conditional import Conditional
from dbt_idivm.script.dialect import Dialect
from dbt_idivm.script.diff import NetChanges
from dbt_idivm.script.key_ranges import Tree, Types, add_key_ranges
from dbt_idivm.script.known_rows import with_rows
from dbt_idivm.script.limit import within_limit
from dbt_idivm.script.merge import Merge
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.replace_where import KeyedSource, Replacing, keyed_source, replace_where
from dbt_idivm.script.source_rows import SourceQuery, SourceRows, source_query_of
from dbt_idivm.script.times import definitions, may_repeat, with_times
from dbt_idivm.script.value_range import Range
from dbt_idivm.script.ways import Application, Change, Shape, Write

# What is fetched of the rows of a MERGE's source before it runs.
Fetched: TypeAlias = Literal["nothing", "keys", "rows"]


@dataclass(frozen=True)
class KnownColumns:
    """What is known of the columns that statements of one refresh read. The fields are as in `add_key_ranges`."""

    types: Types
    staged: Mapping[tuple[str, str], Range]
    large: frozenset[str]

    def with_ranges(self, tree: Tree) -> Tree:
        return add_key_ranges(tree, self.types, self.staged, self.large)


@dataclass(frozen=True)
class BoundScript:
    """What one refresh does to the stored view, the application that says so, and the relations that have to be staged for it.

    `source`: the query for the source rows, if they are to be fetched and can be inlined (`render_rows`). `keyed`: the source to
    be staged and the query for its keys, for the case that source rows are not fetched or are too many; None if the view's rows
    cannot be replaced by key (`render_keyed`).
    """

    change: Change
    application: Application
    staged: tuple[Staged, ...]
    known: KnownColumns
    source: SourceQuery | None = None
    keyed: KeyedSource | None = None

    @cached_property
    def statement(self) -> Write:
        """The statement that applies the change if none of its rows are fetched."""
        return self.known.with_ranges(self.change.tree if isinstance(self.change, Merge) else self.change.copy())

    @cached_property
    def keyed_rows(self) -> Staged:
        """The source to be staged for `render_keyed`. It is made when it is needed: most sources are fetched instead."""
        assert self.keyed is not None
        rows = self.keyed.staged
        return replace(rows, query=self.known.with_ranges(rows.query.copy()))

    @property
    def shape(self) -> Shape:
        return self.application.shape


@dataclass(frozen=True)
class BoundQuestion:
    """The query for what an application has to know before its statement can be made, and the relations to be staged for it."""

    application: Conditional
    source: SourceQuery
    staged: tuple[Staged, ...]


def ask(plan: Plan, application: Application, binding: Binding, target: str) -> BoundQuestion | None:
    """The question of the application about the stored view `target`; None if it has none."""
    if not isinstance(application, Conditional):
        return None
    binder = replace(binding, columns=plan.column_names).statement()
    source = application.question.query(plan, binder, target)
    _known(plan, binder, target).with_ranges(source.query)
    return BoundQuestion(application, source, binder.staged)


def bind(
    plan: Plan, binding: Binding, target: str, *, optimised: bool = True, fetched: Fetched = "nothing"
) -> BoundScript | None:
    """`applications` and `render` in one, for examples and tests: the Δ-script by the preferred way, as one statement that
    changes `target`; None if no i-diff has rows.

    `binding` contains the changes for this plan (`net_changes.py`). `optimised` selects one of a way's two Δ-scripts.
    `fetched`: see `render`.
    """
    found = applications(plan, binding.changes, optimised=optimised)
    return None if found is None else render(plan, found[0], binding, target, fetched=fetched)


def applications(plan: Plan, changes: NetChanges, *, optimised: bool = True) -> tuple[Application, ...] | None:
    """The applications of all ways whose guard holds for these net diffs, in order of
    preference; None if the view does not change.

    Raises IDIVM-232 if all of them are too long.
    """
    able = (way for way in plan.ways if way.holds(changes.diffs))
    return possible(plan, (way.application(changes.is_empty, optimised=optimised) for way in able))


def possible(plan: Plan, done: Iterable[Application | None]) -> tuple[Application, ...] | None:
    """The applications that are not too long; None if any way finds the view unchanged:
    each way is exact, so then it is unchanged.

    Raises IDIVM-232 if all are too long.
    """
    found: list[Application] = []
    for each in done:
        if each is None:
            return None
        found.append(each)
    return within_limit(found, plan.root)


def render(plan: Plan, application: Application, binding: Binding, target: str, *, fetched: Fetched = "nothing") -> BoundScript:
    """The application's change of `target`. `fetched`: which part of its source to fetch first, if it can be inlined."""
    binder = replace(binding, columns=plan.column_names).statement()
    change = with_times(application.statement(plan, binder, target), plan)
    known = _known(plan, binder, target)
    source = keyed = None
    if isinstance(change, Merge) and fetched != "nothing":
        source = source_query_of(change, plan.root.types) if fetched == "rows" else None
        has_keys = application.has_whole_rows and not may_repeat(plan, application.shape)
        keyed = keyed_source(change, plan.root.types) if has_keys else None
    if source is not None:
        known.with_ranges(source.query)
    return BoundScript(change, application, binder.staged, known, source, keyed)


def render_rows(script: BoundScript, source: SourceRows, dialect: Dialect) -> Write | Replacing | None:
    """The statement that applies these source rows, or what it depends on; None if they change nothing."""
    assert isinstance(script.change, Merge)
    known, found = script.known, with_rows(script.change, source, dialect, None if script.keyed is None else script.keyed.types)
    if isinstance(found, Replacing):
        return replace(found, merge=lambda: known.with_ranges(found.merge()))
    return None if found is None else known.with_ranges(found)


def render_keyed(script: BoundScript, keys: SourceRows | None, dialect: Dialect) -> Write | Replacing | None:
    """The statement that applies the staged source, or what it depends on; None if it has no rows. `keys`: the IDs and operation
    of each of its rows; None if there are too many."""
    if keys is not None and not keys.rows:
        return None
    merge, keyed = script.change, script.keyed
    assert isinstance(merge, Merge) and keyed is not None

    def merged() -> exp.Merge:
        found = replace(merge, source=keyed.rows).tree
        found.set("on", script.statement.args["on"].copy())  # the ranges in it follow from the query that is staged
        return found

    replacing = None if keys is None else replace_where(merge, keys, keyed.rows, merged, keyed.types, dialect)
    return replacing or merged()


def _known(plan: Plan, binder: StatementBinder, target: str) -> KnownColumns:
    """For the input tables, the stored view, and the relations that are staged for the statement."""
    types = plan.root.types
    stored = {(target, each.name): types[each.attribute] for each in plan.columns}
    read = {(scan.table, each.name): type_of(each.type) for scan in plan.scans for each in scan.base_columns}
    return KnownColumns({**stored, **read}, binder.ranges, binder.binding.large)


def full_query(plan: Plan, binding: Binding) -> exp.Select:
    """The ID-extended view as a SELECT of its stored columns over the tables at their versions."""
    block = plan.root.block(replace(binding, columns=plan.column_names).statement())
    values = {c.name: block.output[c.attribute] for c in plan.columns} | definitions(plan)
    return replace(block, output={name: values[name] for name in plan.names}).select()


def relation_query(relation: Relation, binding: Binding) -> exp.Query:
    """A relation as a SELECT of its attributes."""
    binder = binding.statement()
    return binder.attach(relation.block(binder).select())

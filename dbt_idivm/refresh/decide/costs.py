"""Costs of the alternatives of a refresh: turn what was observed into the situation that `dbt_idivm/cost/` estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from dbt_idivm.cached import cached_property
from dbt_idivm.cost.choice import REBUILD, Alternative, Choice, crossover, rounded, shrinking
from dbt_idivm.cost.measure import Measure, total
from dbt_idivm.cost.reaching import incremental_by_reach
from dbt_idivm.cost.sizes import Size, of_rows, width
from dbt_idivm.cost.work import READING, ClassSizes, Situation, TableChanges, expected, incremental, rebuild, source_rows
from dbt_idivm.definition.keys import Key
from dbt_idivm.errors import Finding, finding
from dbt_idivm.operators.scan import CLOCK, DiffClass
from dbt_idivm.refresh.catalog.inputs import Input
from dbt_idivm.refresh.catalog.state import Consumed
from dbt_idivm.refresh.changes.moves import BROADCAST_ROWS, Move
from dbt_idivm.refresh.changes.verify_keys import look_up_question
from dbt_idivm.refresh.checks.keys import Check, alike, check_of
from dbt_idivm.refresh.decide.observe import Observed
from dbt_idivm.refresh.decide.outcome import named
from dbt_idivm.refresh.decide.planned import Planned
from dbt_idivm.script.diff import INLINE_ROWS, FeedDiff, NetChanges
from dbt_idivm.script.found_rows import Forms, Reach
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import Application

# The largest source that is broadcast; the driver holds it as well.
_BROADCAST_BYTES = 32 << 20


@dataclass(frozen=True)
class Costs:
    """The costs of refreshing one view or cache, which has a plan and whose sizes were observed."""

    seen: Observed

    @property
    def plan(self) -> Plan:
        plan = self.seen.work.planned.plan
        assert plan is not None
        return plan

    @property
    def view(self) -> str:
        """Key under which durations of this view are stored."""
        return self.seen.work.stored.table

    @cached_property
    def unknown(self) -> str | None:
        """An input with unknown size, as the user wrote it; None if all sizes are known."""
        work = self.seen.work
        return next(
            (
                named(work.job.request, name)
                for name, each in work.planned.inputs.tables.items()
                if each.table in self.plan.tables and each.table not in work.planned.sizes
            ),
            None,
        )

    @cached_property
    def are_few(self) -> bool:
        """Whether the changes are certainly few rows, according to commits."""
        counts = [move.feed_rows for move in self._moved]
        return None not in counts and sum(count or 0 for count in counts) <= INLINE_ROWS

    @property
    def _moved(self) -> list[Move]:
        return [move for table, move in self.seen.moves.items() if move.moved and table in self.plan.tables]

    @cached_property
    def counts(self) -> Mapping[str, TableChanges]:
        """Table → its changes as counted by its commits; all of its rows if a commit does not count."""
        sizes = self.seen.work.planned.sizes
        return {move.table: changes_of(move, sizes.get(move.table)) for move in self._moved}

    def situation(self, changes: ClassSizes) -> Situation:
        work = self.seen.work
        sizes = {**work.planned.sizes, **({CLOCK: Size(1, 1)} if self.plan.clock else {})}
        return Situation(self.plan, sizes, self.seen.view, changes, rewrites=not work.job.config.deletion_vectors)

    def expected(self) -> Situation:
        """The situation before net diffs are read, at its best: what costs more than a rebuild even then certainly does."""
        return self.situation(
            expected(
                self.plan, {table: _at_best(self.seen.moves[table], found) for table, found in self.counts.items()}, hopeful=True
            )
        )

    def unread(self) -> Situation:
        """The situation before net diffs are read, according to commits."""
        return self.situation(expected(self.plan, self.counts, hopeful=False))

    def read(self, net: NetChanges) -> Situation:
        """The situation after net diffs were read: changed rows as classified, or as counted by commits if they stay in the
        engine."""
        estimated = expected(self.plan, self.counts, hopeful=False)
        scans = {scan.occurrence: scan for scan in self.plan.scans}

        def changed(occurrence: str, diff_class: DiffClass, split: frozenset[str]) -> float:
            scan = scans[occurrence]
            diff = net.diffs.get(scan.table)
            if diff is None:
                return 0.0
            if isinstance(diff, FeedDiff):
                least = 0.0 if diff.appended or diff.has_none(scan, diff_class) else 1.0
                return max(estimated(occurrence, diff_class, split), least)
            return float(len(net.classes[occurrence, split][diff_class])) if (occurrence, split) in net.classes else 0.0

        return self.situation(changed)

    def priced(self, name: str, measure: Measure) -> Alternative:
        return Alternative(name, measure, self.seen.work.job.client.invocation.experience.seconds(self.view, name, measure))

    def rebuild(self, situation: Situation) -> Alternative:
        """A rebuild, with the queries that verify keys before it."""
        return self.priced(REBUILD, rebuild(situation) + self._verifying)

    def way(self, done: Application, situation: Situation, forms: Forms = ()) -> Alternative:
        """The way over whole tables, or, if that is cheaper, over the rows that changes reach. `forms`: the forms for these, each
        with the tables of which they can be found. Few new keys are looked up by it, unless the reached rows show them."""
        found = [self.priced(done.way, incremental(done, situation) + self._looking_up({}))]
        for form, wanted in forms:
            measure = incremental_by_reach(form, wanted, situation) if wanted else None
            if measure is not None:
                priced = self.priced(done.way, measure + self._looking_up(wanted))
                found.append(replace(priced, form=form, wanted=wanted))
        return min(found, key=lambda each: each.seconds)

    def _looking_up(self, wanted: Reach) -> Measure:
        """The work of looking up the few new keys of inputs of which not all rows with these keys are `wanted`. Those of several
        inputs are looked up by one query. Keys that were looked up for another model of this run count as little as possible, so
        that both models want the same rows."""
        job, work = self.seen.work.job, Measure()
        for found, key in self._new_keys:
            if found.table in wanted and wanted[found.table].has_new(key.columns):
                continue
            question = look_up_question(self.seen.moves[found.table], key, job.config.verify)
            asked = self._key_query(found, key)
            work += Measure(nodes=asked.nodes) if job.client.invocation.knows(question) else asked
        return replace(work, queries=min(work.queries, 1))

    @cached_property
    def _new_keys(self) -> list[tuple[Input, Key]]:
        """The inputs with few changes, of which new keys are to be looked up."""
        few = {move.table: move for move in self._moved if move.feed_rows is not None and move.feed_rows <= INLINE_ROWS}
        return [(found, key) for found, key in self._untrusted if found.table in few and self._adds(few[found.table])]

    @staticmethod
    def is_few(done: Application, situation: Situation) -> bool:
        """Whether the source of the application's statement is small enough to be broadcast."""
        rows = source_rows(done, situation)
        return rows <= BROADCAST_ROWS and rows * situation.view_width <= _BROADCAST_BYTES

    @cached_property
    def reading(self) -> Measure:
        """The work of reading the net diffs, and of looking up new keys where these are many. What another model of this run has
        already read costs nothing. Few rows of several inputs are fetched by one query."""
        alone = total(self._reading(move) for move in self._moved)
        few = [
            move for move in self._moved if self._is_read(move) and move.feed_rows is not None and move.feed_rows <= INLINE_ROWS
        ]
        return replace(alone, queries=alone.queries - max(len(few) - 1, 0))

    @property
    def reading_seconds(self) -> float:
        return self.seen.work.job.client.invocation.experience.reading_seconds(self.view, self.reading)

    def _reading(self, move: Move) -> Measure:
        size = self.seen.work.planned.sizes.get(move.table, Size(0, 0))
        if not self._is_read(move):
            return Measure()
        rows = self._rows_of_feed(move, size)
        read = READING + Measure(tuples=rows, bytes_read=2 * size.bytes if move.feed_rows is None else 0)
        if rows > INLINE_ROWS:
            read += Measure(bytes_written=rows * self._width(move.table))
        if not self._adds(move) or rows <= INLINE_ROWS:
            return read
        return read + total(read + self._key_query(found, key) for found, key in self._untrusted if found.table == move.table)

    def _is_read(self, move: Move) -> bool:
        return not self.seen.work.job.client.invocation.knows(move.question("diff")) and not move.changes_no_row

    def _adds(self, move: Move) -> bool:
        """Whether the move has new keys to look up."""
        return bool(self.counts[move.table].inserted) and self.seen.work.job.config.verify != "none"

    @staticmethod
    def _rows_of_feed(move: Move, size: Size) -> float:
        """Estimated rows of a change feed. The net diff groups it by all columns, so they are shuffled and thus written once. If
        they are too many to be fetched, the query that looks up new keys shuffles them again. The feed of a rewritten table has
        all rows twice."""
        return 2.0 * size.rows if move.feed_rows is None else float(move.feed_rows)

    def _width(self, table: str) -> float:
        """Bytes read for each row."""
        return max(width(scan.types.values()) for scan in self.plan.scans if scan.table == table)

    @property
    def unverified(self) -> Mapping[str, Consumed] | None:
        """Input → consumed version for keys that a rebuild would leave unverified (`Work.unverified`): those of inputs that moved
        since their keys were looked up. None if a rebuild has to verify all keys; it always verifies those that were found."""
        state, config = self.seen.work.stored.state, self.seen.work.job.config
        # a key that was not checked for a while, under another `verify`, may be broken by a row that was inserted then; a
        # `unique_key` that contains the IDs holds only if the keys do, and so do look-ups of rows by their keys
        if config.verify != "always" or config.unique_key or state is None or not state.checked or self.plan.relies_on_keys:
            return None
        left = {**state.inputs, **state.unverified}
        return {
            found.name: left[found.name]
            for found, key in self._untrusted
            if not key.found and (self.seen.moves[found.table].moved or found.name in state.unverified)
        }

    @cached_property
    def _verifying(self) -> Measure:
        """The work of verifying keys over whole tables in a rebuild. What this run has verified already costs nothing. Keys of
        the same types are verified by one statement."""
        known, checks = self.seen.work.job.client.invocation.knows, dict[Check, Measure]()
        for found, key in self._untrusted:
            if (key.found or self.unverified is None) and found.version is not None:
                check = check_of(found, found.version, key)
                checks |= {} if known(check.asked) else {check: self._key_query(found, key)}
        return replace(total(checks.values()), queries=len(list(alike(checks))))

    @property
    def _untrusted(self) -> list[tuple[Input, Key]]:
        """The inputs whose keys have to be looked up."""
        return [
            (each.found, each.key)
            for each in self.seen.work.planned.keyed_inputs
            if each.key is not None and not each.key.trusted and each.found.table in self.plan.tables
        ]

    def _key_query(self, found: Input, key: Key) -> Measure:
        """The work of looking up new keys: it reads the key columns of the whole table once."""
        size = self.seen.work.planned.sizes.get(found.table, Size(0, 0))
        types = {each.name: each.type for each in found.facts.columns}
        part = width(types[name] for name in key.columns) / width(types.values())
        return Measure(queries=1, nodes=3, tuples=size.rows, bytes_read=size.bytes * min(part, 1.0))

    def reason(self, choice: Choice, pays: str) -> Finding:
        """The finding that explains a rebuild chosen by cost."""
        best = choice.best_way
        seconds = (best.seconds if best else 0.0) + (0.0 if choice.is_read else self.reading_seconds)
        return finding(411, full=f"{choice.chosen.seconds:.1f} s", incremental=f"{seconds:.1f} s", pays=pays)

    def pays(self, situation: Situation, done: Application, reading: float, forms: Forms) -> str:
        """Sentence for messages: the size of the tables, or the number of changes, at which the way would be as fast as a
        rebuild. `forms`: as for `way`."""
        if (factor := crossover(*self._of_size(situation, done, reading, forms))) is not None:
            rows = sum(self.seen.work.planned.sizes[table].rows for table in self.plan.tables)
            return f"incremental pays from about {rounded(rows * factor)} rows in its inputs"
        changed = sum(each.inserted + each.deleted + each.updated for each in self.counts.values())
        part = shrinking(
            self.rebuild(situation).seconds - reading,
            lambda part: self.way(done, self._changed(situation, part), forms).seconds,
        )
        if part is not None and changed * part >= 1:
            return f"incremental pays if fewer than about {rounded(changed * part)} rows change"
        return "incremental would not pay for larger tables or fewer changes either"

    def _of_size(
        self, situation: Situation, done: Application, reading: float, forms: Forms
    ) -> tuple[Callable[[float], float], Callable[[float], float]]:
        def scaled(factor: float) -> tuple[Costs, Situation]:
            sizes = {table: size.times(factor) for table, size in situation.tables.items()}
            work = replace(self.seen.work, planned=replace(self.seen.work.planned, sizes=sizes))
            view = situation.view.times(factor) if situation.view is not None else None
            return Costs(replace(self.seen, work=work)), replace(situation, tables=sizes, view=view, _known={})

        def full(factor: float) -> float:
            costs, now = scaled(factor)
            return costs.rebuild(now).seconds

        def way(factor: float) -> float:
            costs, now = scaled(factor)
            return costs.way(done, now, forms).seconds + reading

        return full, way

    @staticmethod
    def _changed(situation: Situation, part: float) -> Situation:
        return replace(situation, changed=lambda *leaf: situation.changed(*leaf) * part, _known={})


def changes_of(move: Move, size: Size | None) -> TableChanges:
    """The changes counted by the commits. If a commit does not count, any row may have changed."""
    if move.feed_rows is None:
        rows = float(size.rows) if size is not None else 0.0
        return TableChanges(rows, rows, 0.0)
    counts = [commit.counts for commit in move.commits]
    return TableChanges(*(float(sum(each[done] for each in counts)) for done in ("inserted", "deleted", "updated")))


def _at_best(move: Move, found: TableChanges) -> TableChanges:
    """The least possible changes: one updated row where commits do not count."""
    return TableChanges(updated=1.0) if move.feed_rows is None else found


def build_measure(planned: Planned, rows: int) -> Measure | None:
    """The work of writing a view with `rows` rows; None without a plan, or if the size of an input is unknown."""
    plan = planned.plan
    if plan is None or any(table not in planned.sizes for table in plan.tables):
        return None
    types = plan.root.types
    view = of_rows(rows, (types[each.attribute] for each in plan.columns))
    return rebuild(Situation(plan, planned.sizes, view, lambda *leaf: 0.0))

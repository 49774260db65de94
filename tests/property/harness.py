"""A view, its tables and their changes on one engine: maintain it by the planner's MERGE and compare with recomputation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import sqlglot
from sqlglot import exp

from dbt_idivm.algebra.expressions import column
from dbt_idivm.algebra.relation import Relation
from dbt_idivm.algebra.types import type_of
from dbt_idivm.algebra.written_time import at_time
from dbt_idivm.operators.scan import CLOCK
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import encode, is_inlinable
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row, Value, fetched_row
from dbt_idivm.script.found_rows import find, forms, has_all
from dbt_idivm.script.net_changes import net_changes
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Cache, Plan
from dbt_idivm.script.render import BoundScript, Fetched, applications, ask, full_query, relation_query, render
from dbt_idivm.script.source_rows import SourceRows
from dbt_idivm.script.ties import completed_query
from dbt_idivm.script.value_range import Ranges, between, has_range
from dbt_idivm.script.ways import Application
from tests.property import engine
from tests.property.duck import OnDuckDB
from tests.property.engine import Collision, Columns, Engine, applied_by, run
from tests.property.plans import VIEW, Options, Table, plan_of
from tests.property.tied import COMPLETED

FETCHED: tuple[Fetched, ...] = ("nothing", "rows", "keys", "rows")

NOW = "now"  # a table of a batch whose only row is the time to which the clock moves

__all__ = ["VIEW", "Collision", "Options", "World"]
_CHANGE = ("_change_type", "string")


@dataclass
class World:
    """The tables, the maintained view and the oracle on an engine. A context manager."""

    tables: tuple[Table, ...]
    sql: str
    options: Options = field(default_factory=Options)
    engine_of: Callable[[], Engine] = OnDuckDB
    content: dict[str, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.touched: dict[str, int] = {}  # cache → rows that its last refresh touched
        self.applied: Counter[str] = Counter()  # statements that fetched rows were applied by
        self.fed: dict[str, list[Row]] = {}  # table with a change feed → the rows of the last one
        self.feeds: dict[str, Columns] = {}  # table with a change feed → the feed's columns
        self.engine = self.engine_of()
        for table in self.tables:
            self.engine.create(table.name, table.columns)
            self._create_feed(table.name, table.columns)
            self.content[table.name] = []
        self.plan = self.typed_plan(self.sql, self.options)
        for cache in self.plan.caches:
            self._create_feed(cache.table, tuple(self.engine.types(self._query(cache.plan)).items()))

        self.read = self.plan.clock  # the expressions of the clock
        self.values: Mapping[str, Value] = {}
        self.time = exp.cast(exp.Literal.string("2026-02-01 10:00:00"), "timestamp")
        if self.read:
            self.clock_table = Table(CLOCK, tuple((each.name, each.type) for each in self.read), ())
            self.engine.create(CLOCK, self.clock_table.columns)
            self.content[CLOCK] = []

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def load(self, rows: Mapping[str, list[Row]]) -> None:
        """Fill the tables and build the view."""
        self.fill(rows)
        self.build()

    def fill(self, rows: Mapping[str, list[Row]]) -> None:
        for name, content in self._with_clock(rows, is_first=True).items():
            self._replace(name, content)

    def build(self) -> None:
        """The caches and the view by their queries."""
        for cache in self.plan.caches:
            self.engine.store(cache.table, self._read_query(cache.plan))
            self.touched[cache.table] = 0
        self.engine.store(VIEW, self._read_query(self.plan))

    def change(self, post: Mapping[str, list[Row]]) -> dict[str, InlineDiff]:
        """Replace the content of some tables and maintain the caches; the net diffs of both."""
        diffs: dict[str, InlineDiff] = {}
        for name, content in self._with_clock(post).items():
            table = self._table(name)
            before, after = Counter(self.content[name]), Counter(content)
            self._replace(name, content)
            rows = [(row, after[row] - before[row]) for row in sorted({*before, *after}, key=repr)]
            diffs[name] = InlineDiff(table.names, tuple((row, weight) for row, weight in rows if weight))
            if name in self.feeds:
                self._feed(table.name, before, after)
        diffs = {name: diff for name, diff in diffs.items() if diff.rows}
        for cache in self.plan.caches:
            diff = self._maintain(cache, diffs)
            diffs |= {cache.table: diff} if diff.rows else {}
        return diffs

    def _maintain(self, cache: Cache, diffs: Mapping[str, InlineDiff]) -> InlineDiff:
        """Refresh a cache as a view is refreshed; what changed in it is what its readers see as the net diff of a table."""
        before = self._cells_of(cache.table)
        self.touched[cache.table] = self.apply(self.script(diffs, cache.plan, cache.table))
        after = self._cells_of(cache.table)
        names = tuple(column.name for column in cache.plan.columns)
        if cache.table in self.feeds:
            self._feed(cache.table, before, after)
        rows = [(row, after[row] - before[row]) for row in sorted({*before, *after}, key=repr)]
        return InlineDiff(names, tuple((row, weight) for row, weight in rows if weight))

    def _cells_of(self, table: str) -> Counter[Row]:
        """The rows of a table as they are put into statements. 0.0 and -0.0 are two values there, and one in Python."""
        rows = self.engine.rows(self._select([exp.Star()], table))
        return Counter(tuple(map(self.engine.cell, row)) for row in rows)

    def refresh(self, post: Mapping[str, list[Row]]) -> BoundScript | None:
        """Change tables and maintain the view by one script; the script."""
        script = self.script(self.change(post))
        self.apply(script)
        return script

    def script(self, diffs: Mapping[str, InlineDiff], plan: Plan | None = None, target: str = VIEW) -> BoundScript | None:
        """The refresh that these net diffs call for: of the view, unless another maintained table is meant."""
        plan = plan or self.plan
        keys = {scan.table: scan.key for scan in plan.scans}
        bound: dict[str, NetDiff] = {
            name: in_engine(name, diff, keys.get(name)) if name in self.feeds else diff for name, diff in diffs.items()
        }
        ranges = {
            scan.table: ranges_in(self.fed[scan.table], self.feeds[scan.table][:-1])
            for scan in plan.scans
            if isinstance(bound.get(scan.table), FeedDiff) and scan.key and is_asked(len(diffs[scan.table].rows))
        }
        large = frozenset((*plan.tables, target) if are_large(diffs) else ())
        changes = net_changes(plan, bound)
        binding = Binding(changes=changes, dialect=self.engine.dialect, ranges=ranges, large=large, clock=self.clock_values())
        found = applications(plan, binding.changes, optimised=self.options.optimised)
        if found is None:
            return None
        application = found[0]
        asked = ask(plan, application, binding, target)
        if asked is not None:
            self.engine.stage(asked.staged)
            application = asked.application.answered(engine.fetched(self.engine, asked.source))
        # of half of the refreshes the source is fetched, of a quarter its keys: they decide which statement applies its rows
        fetched = FETCHED[sum(len(diff.rows) for diff in diffs.values()) % len(FETCHED)]
        if self.options.compared or is_reached(diffs):
            application, reached = self._found(application, binding)
            binding = replace(binding, reached=reached)
        return render(plan, application, binding, target, fetched=fetched)

    def is_now(self, plan: Plan, sql: str) -> None:
        """The view has another definition, and its rows are those of it at this time."""
        self.plan, self.sql, self.read, self.values = plan, sql, plan.clock, {}
        self.__dict__.pop("_extended", None)
        if self.read:
            self.clock_table, row = Table(CLOCK, tuple((each.name, each.type) for each in self.read), ()), self._evaluated()
            self.values = dict(zip((each.name for each in self.read), row, strict=True))
            self._replace(CLOCK, [row])

    def clock_values(self) -> Mapping[str, Value]:
        """The values of the clock that are put into statements."""
        return self.values

    def _with_clock(self, rows: Mapping[str, list[Row]], *, is_first: bool = False) -> dict[str, list[Row]]:
        """The rows, with that of the clock if the time is among them."""
        found = dict(rows)
        if NOW in found:
            ((text,),) = found.pop(NOW)
            self.time = exp.cast(exp.Literal.string(str(text)), "timestamp")
        if self.read and (is_first or NOW in rows):
            row = self._evaluated()
            found[CLOCK], self.values = [row], dict(zip((each.name for each in self.read), row, strict=True))
        return found

    def _evaluated(self) -> Row:
        """The values of the clock. They are cast, because DuckDB has other types of sums."""
        parsed = (at_time(sqlglot.parse_one(each.name, read="spark"), self.time) for each in self.read)
        cells = [encode(exp.cast(value, type_of(each.type)), each.type) for value, each in zip(parsed, self.read, strict=True)]
        (row,) = self.engine.rows(exp.Select(expressions=cells))
        return fetched_row([each.type for each in self.read], row)

    def _found(self, application: Application, binding: Binding) -> tuple[Application, Mapping[str, SourceRows]]:
        """The application in a form for the rows that it can reach, and these table by table, as a refresh fetches them."""
        known = forms(application, binding.changes.is_known)
        form, wanted = known[-1] if self.options.compared else [each for each in known if each[0] is application][-1]
        steps, answer = find(wanted, binding), None
        try:
            while True:
                answer = engine.fetched(self.engine, steps.send(answer).query)
        except StopIteration as stopped:
            found: Mapping[str, SourceRows] = stopped.value
            self.applied["reach"] += bool(found)
            self.applied["reach alone"] += has_all(form, found)
            is_compared = form is not application and has_all(form, found)
            self.applied["compared"] += is_compared
            return form if is_compared else application, found

    def apply(self, script: BoundScript | None) -> int:
        """Apply the script; how many view rows it touched. Raises `Collision` where Delta would refuse it."""
        if script is None:
            return 0
        statement, touched = run(self.engine, script)
        if script.source is not None or script.keyed is not None:
            self.applied[applied_by(statement)] += 1
        return touched

    @property
    def maintained_tables(self) -> dict[str, Plan]:
        """The caches and the view."""
        return {**{cache.table: cache.plan for cache in self.plan.caches}, VIEW: self.plan}

    def stored(self) -> Counter[Row]:
        """The maintained view's rows, all stored columns but the times of writing."""
        return Counter(self.engine.rows(self._select([column(each.name) for each in self.plan.columns], VIEW)))

    def rows_of(self, table: str) -> Counter[Row]:
        return Counter(self.engine.rows(self._select([exp.Star()], table)))

    def wrong_caches(self) -> list[str]:
        """The caches that are not equal to their subviews over base tables."""
        return [
            cache.table
            for cache in self.plan.caches
            if self.rows_of(cache.table) != Counter(self.engine.rows(self._query(cache.plan)))
        ]

    def maintained(self) -> Counter[Row]:
        """The maintained view as the user sees it."""
        return Counter(self.engine.rows(self._select(self._shown, VIEW)))

    def answer(self) -> list[Row]:
        """The rows of the user's own SQL, run now; if it has tied rows, of the SQL with the orders completed by hand, or else of the
        planner's query."""
        binding = Binding(dialect=self.engine.dialect, clock=self.values)
        completed = completed_query(self.plan, binding) if self.sql not in COMPLETED else None
        sql = COMPLETED.get(self.sql, self.sql)
        if completed is not None:
            return self.engine.rows(completed)
        return self.engine.oracle(at_time(sqlglot.parse_one(sql, read="spark"), self.time).sql("spark") if self.read else sql)

    def recomputed(self) -> Counter[Row]:
        """The same without the times of writing (`test_written_times.py` has these)."""
        times = {each.place for each in self.plan.times}
        rows = self.answer()
        return (
            Counter(tuple(cell for place, cell in enumerate(row) if place not in times) for row in rows)
            if times
            else Counter(rows)
        )

    def extended(self) -> Counter[Row]:
        """The ID-extended view, run now: hidden columns and operator caches included."""
        return Counter(self.engine.rows(self._extended))

    def types(self) -> list[tuple[str, str]]:
        """The columns that the user sees, and their types as they are stored."""
        return list(self.engine.types(self._select(self._shown, VIEW)).items())

    @cached_property
    def _extended(self) -> exp.Select:
        return self._query(replace(self.plan, times=()))

    @property
    def _shown(self) -> list[exp.Expr]:
        return [column(each.name) for each in self.plan.columns if not each.hidden]

    def _select(self, columns: list[exp.Expr], table: str) -> exp.Select:
        return exp.Select(expressions=columns).from_(self.engine.dialect.table(table, None))

    def _query(self, plan: Plan) -> exp.Select:
        """A maintained table's rows over base tables."""
        return self._read_query(over_tables(plan, self.plan.caches))

    def _read_query(self, plan: Plan) -> exp.Select:
        """The same over the caches that the plan reads."""
        return full_query(plan, Binding(dialect=self.engine.dialect))

    def typed_plan(self, sql: str, options: Options) -> Plan:
        """The plan with the types that the engine gives UNIONs and the columns of each cache, one cache after the other."""
        stored: dict[str, Mapping[str, str]] = {}
        while True:
            plan = plan_of(self.tables, sql, options, stored, self._ask)
            missing = next((cache for cache in plan.caches if cache.table not in stored), None)
            if missing is None:
                return plan
            stored[missing.table] = self.engine.types(self._read_query(over_tables(missing.plan, plan.caches)))

    def _ask(self, relation: Relation) -> list[str]:
        return list(self.engine.types(relation_query(relation, Binding(dialect=self.engine.dialect))).values())

    def _table(self, name: str) -> Table:
        return self.clock_table if name == CLOCK else next(table for table in self.tables if table.name == name)

    def _replace(self, name: str, rows: list[Row]) -> None:
        self.content[name] = list(rows)
        if name == CLOCK:
            self.engine.store(name, self.engine.dialect.rows(self.clock_table.columns, tuple(rows), "r"))
            return
        self.engine.fill(name, self._table(name).columns, rows)

    def _create_feed(self, table: str, columns: Columns) -> None:
        """A feed, where one is asked for or the net diff cannot be put into a statement."""
        if not self.options.feed and all(is_inlinable(kind) for _, kind in columns):
            return
        self.feeds[table] = (*columns, _CHANGE)
        self.engine.create(f"{table}__changes", self.feeds[table])

    def _feed(self, table: str, before: Counter[Row], after: Counter[Row]) -> None:
        """A change feed larger than the net diff: every row is deleted and inserted, unless ranges are asked for, and two more
        inserted and deleted, of which one is in no state: the first row with the last value of the last one."""
        rows_of_both = [*after, *before]
        passing = [*rows_of_both[:1], *((*row[:-1], rows_of_both[-1][-1]) for row in rows_of_both[:1])]
        if is_asked(len((after - before) | (before - after))):
            before, after = before - after, after - before
        rows: Sequence[Row] = [
            (*row, change) for rows, change in ((before, "delete"), (after, "insert")) for row in (*rows.elements(), *passing)
        ]
        self.engine.fill(f"{table}__changes", self.feeds[table], rows)
        self.fed[table] = [tuple(map(self.engine.cell, row[:-1])) for row in rows]


def is_reached(diffs: Mapping[str, InlineDiff]) -> bool:
    """Whether the rows that changes reach are found first, where they can be: in two of three refreshes."""
    return sum(len(diff.rows) for diff in diffs.values()) % 3 != 0


def is_asked(net_rows: int) -> bool:
    """Whether it was asked which keys came and went, and between what the values of columns are: of half of the feeds."""
    return net_rows % 2 == 0


def are_large(diffs: Mapping[str, InlineDiff]) -> bool:
    """Whether tables are taken as large, and read at the changed keys, not between them: in half of the refreshes."""
    return sum(len(diff.rows) for diff in diffs.values()) // 2 % 2 == 0


def ranges_in(rows: Sequence[Row], columns: Columns) -> Ranges:
    """The ranges of the columns that have one."""
    found = {}
    for place, (name, kind) in enumerate(columns):
        cells = [row[place] for row in rows]
        known: list[Any] = [cell for cell in cells if cell is not None]
        if has_range(type_of(kind)) and known:
            found[name] = between(type_of(kind), str(min(known)), str(max(known)), has_null=None in cells)
    return {name: each for name, each in found.items() if each is not None}


def in_engine(name: str, diff: InlineDiff, key: tuple[str, ...] | None) -> FeedDiff:
    """The feed with that net diff; commits would say if rows were only added. Half of the feeds have been asked for the keys that
    came and went."""
    feed = FeedDiff(name, 0, 1, appended=all(weight > 0 for _, weight in diff.rows))
    if key is None or not is_asked(len(diff.rows)):
        return feed
    sums: Counter[Row] = Counter()
    for row, weight in diff.rows:
        sums[tuple(row[diff.columns.index(each)] for each in key)] += weight
    signs = [(total > 0) - (total < 0) for total in sums.values()]
    return feed.with_keys(key, inserted=1 in signs, deleted=-1 in signs, kept=0 in signs)

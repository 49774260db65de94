"""A view, its tables and their changes on DuckDB: maintain it by the planner's MERGE and compare with recomputation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import duckdb
import sqlglot

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute
from dbt_idivm.script.bind import BoundScript, bind, full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row
from dbt_idivm.script.plan import Plan

VIEW = "maintained"


@dataclass(frozen=True)
class Table:
    """A base table of a case: columns with Spark types, and its key or None."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    def info(self) -> TableInfo:
        return TableInfo(self.name, tuple(Attribute(*column) for column in self.columns), self.key, "test")


@dataclass(frozen=True)
class Options:
    """Which of the equivalent ways to maintain is on trial."""

    optimised: bool = True
    additive: bool = True
    recompute_only: bool = False
    feed: bool = False  # the net diff stays a query over the change feed


@dataclass
class World:
    """One DuckDB database with the tables, the maintained view and the oracle."""

    tables: tuple[Table, ...]
    sql: str
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET threads TO 1")
        for table in self.tables:
            columns = ", ".join(f'"{name}" {_duck_type(kind)}' for name, kind in table.columns)
            self.connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
            self.connection.execute(f'CREATE TABLE "{table.name}__changes" ({columns}, _change_type VARCHAR)')
        self.plan = plan_of(self.tables, self.sql, self.options)
        self.oracle = sqlglot.transpile(self.sql, read="spark", write="duckdb")[0]

    def load(self, rows: Mapping[str, list[Row]]) -> None:
        """Fill the tables and build the view."""
        for name, content in rows.items():
            self._insert(name, content)
        self.connection.execute(f"CREATE TABLE {VIEW} AS " + DUCKDB.sql(full_query(self.plan, Binding(dialect=DUCKDB))))

    def change(self, post: Mapping[str, list[Row]]) -> dict[str, InlineDiff]:
        """Replace the content of some tables; the net diffs."""
        diffs = {}
        for name, content in post.items():
            table = next(t for t in self.tables if t.name == name)
            before = Counter(self.connection.execute(f'SELECT * FROM "{name}"').fetchall())
            after = Counter(tuple(row) for row in content)
            self.connection.execute(f'DELETE FROM "{name}"')
            self._insert(name, content)
            rows = [(row, after[row] - before[row]) for row in sorted({*before, *after}, key=repr)]
            diffs[name] = InlineDiff(table.names, tuple((row, weight) for row, weight in rows if weight))
            self._feed(table, before, after)
        return {name: diff for name, diff in diffs.items() if diff.rows}

    def script(self, diffs: Mapping[str, InlineDiff]) -> BoundScript | None:
        """The refresh that these net diffs call for."""
        bound: Mapping[str, NetDiff] = diffs
        if self.options.feed:
            bound = {name: FeedDiff(name, 0, 1) for name in diffs}
        return bind(self.plan, Binding(diffs=bound, dialect=DUCKDB), VIEW, optimised=self.options.optimised,
                    additive=self.options.additive)

    def apply(self, script: BoundScript | None) -> int:
        """Run the MERGE; how many view rows it touched."""
        if script is None:
            return 0
        count = self.connection.execute(DUCKDB.sql(script.merge)).fetchone()
        return int(count[0]) if count else 0

    def stored(self) -> Counter[Row]:
        """The maintained view's rows, all stored columns."""
        return Counter(self.connection.execute(f"SELECT * FROM {VIEW}").fetchall())

    def maintained(self) -> Counter[Row]:
        """The maintained view as the user sees it."""
        names = ", ".join(f'"{column.name}"' for column in self.plan.columns if not column.hidden)
        return Counter(self.connection.execute(f"SELECT {names} FROM {VIEW}").fetchall())

    def recomputed(self) -> Counter[Row]:
        """The user's own SQL, run now."""
        return Counter(self.connection.execute(self.oracle).fetchall())

    def extended(self) -> Counter[Row]:
        """The ID-extended view, run now: hidden columns and operator caches included."""
        return Counter(self.connection.execute(DUCKDB.sql(full_query(self.plan, Binding(dialect=DUCKDB)))).fetchall())

    def _insert(self, name: str, rows: list[Row]) -> None:
        if rows:
            marks = ", ".join("?" for _ in rows[0])
            self.connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', [list(row) for row in rows])

    def _feed(self, table: Table, before: Counter[Row], after: Counter[Row]) -> None:
        """A change feed that says more than the net diff: every row of the table goes and comes."""
        self.connection.execute(f'DELETE FROM "{table.name}__changes"')
        for rows, change in ((before, "delete"), (after, "insert")):
            content = [(*row, change) for row in rows.elements()]
            if content:
                marks = ", ".join("?" for _ in content[0])
                self.connection.executemany(f'INSERT INTO "{table.name}__changes" VALUES ({marks})', content)


def plan_of(tables: tuple[Table, ...], sql: str, options: Options) -> Plan:
    lowered = lower(sql, Catalog({table.name: table.info() for table in tables}))
    return compile_plan(lowered.root, lowered.output, recompute_only=options.recompute_only, caches=options.additive)


def _duck_type(kind: str) -> str:
    return sqlglot.exp.DataType.build(kind, dialect="spark").sql("duckdb")

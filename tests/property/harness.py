"""A view, its tables and their changes on DuckDB: maintain it by the planner's MERGE and compare with recomputation."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

import duckdb
import sqlglot

from dbt_idivm.script.bind import BoundScript, bind, full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row, Value
from dbt_idivm.script.over_tables import over_tables
from dbt_idivm.script.plan import Cache, Plan
from tests.property.plans import VIEW, Options, Table, plan_of

# DuckDB 2.0.0 fails some joins of grouped rows with "INTERNAL Error: dict-surviving join" after the first of these rewrites, and
# waits for itself for ever after the second, on some statements with nested tests.
_CONFIG: dict[str, Any] = {"threads": 1, "disabled_optimizers": "build_side_probe_side,common_subplan"}
_DATABASES = [duckdb.connect(":memory:", config=_CONFIG)]
_NUMBERS = count()


def _cursor() -> duckdb.DuckDBPyConnection:
    """A connection to the one database; to a new one if an internal error of the engine ended the last."""
    try:
        _DATABASES[-1].execute("SELECT 1")
    except duckdb.FatalException:
        _DATABASES.append(duckdb.connect(":memory:", config=_CONFIG))
    return _DATABASES[-1].cursor()


@atexit.register
def _close() -> None:
    for database in _DATABASES:
        database.close()


class Collision(Exception):
    """A MERGE with two source rows for one target row."""


@dataclass
class World:
    """A schema of one DuckDB database with the tables, the maintained view and the oracle. A context manager."""

    tables: tuple[Table, ...]
    sql: str
    options: Options = field(default_factory=Options)
    content: dict[str, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.schema = f"world_{next(_NUMBERS)}"
        self.touched: dict[str, int] = {}  # cache → rows that its last refresh touched
        self.connection = _cursor()
        self.connection.execute(f"CREATE SCHEMA {self.schema}; SET schema = '{self.schema}'")
        for table in self.tables:
            columns = ", ".join(f"{_quoted(name)} {_duck_type(kind)}" for name, kind in table.columns)
            self.connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
            if self.options.feed:
                self.connection.execute(f'CREATE TABLE "{table.name}__changes" ({columns}, _change_type VARCHAR)')
            self.content[table.name] = []
        self.plan = self._typed_plan()
        for cache in self.plan.caches if self.options.feed else ():
            self.connection.execute(f"CREATE TABLE {cache.table}__changes AS SELECT *, '' AS _change_type "
                                    f"FROM ({self._query(cache.plan)})")
        self.oracle = sqlglot.transpile(self.sql, read="spark", write="duckdb")[0]

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(duckdb.FatalException):
            self.connection.execute(f"SET schema = 'main'; DROP SCHEMA {self.schema} CASCADE")
        self.connection.close()

    def load(self, rows: Mapping[str, list[Row]]) -> None:
        """Fill the tables and build the view."""
        for name, content in rows.items():
            self._replace(name, content)
        for cache in self.plan.caches:
            self.connection.execute(f"CREATE OR REPLACE TABLE {cache.table} AS " + self._read_query(cache.plan))
            self.touched[cache.table] = 0
        self.connection.execute(f"CREATE OR REPLACE TABLE {VIEW} AS " + self._read_query(self.plan))

    def change(self, post: Mapping[str, list[Row]]) -> dict[str, InlineDiff]:
        """Replace the content of some tables and maintain the caches; the net diffs of both."""
        diffs: dict[str, InlineDiff] = {}
        for name, content in post.items():
            table = next(t for t in self.tables if t.name == name)
            before, after = Counter(self.content[name]), Counter(content)
            self._replace(name, content)
            rows = [(row, after[row] - before[row]) for row in sorted({*before, *after}, key=repr)]
            diffs[name] = InlineDiff(table.names, tuple((row, weight) for row, weight in rows if weight))
            if self.options.feed:
                self._feed(table.name, before, after)
        diffs = {name: diff for name, diff in diffs.items() if diff.rows}
        for cache in self.plan.caches:
            diff = self._maintain(cache, diffs)
            diffs |= {cache.table: diff} if diff.rows else {}
        return diffs

    def _maintain(self, cache: Cache, diffs: Mapping[str, InlineDiff]) -> InlineDiff:
        """Refresh a cache as a view is refreshed; what changed in it is what its readers see as the net diff of a table."""
        before = self.rows_of(cache.table)
        self.touched[cache.table] = self.apply(self.script(diffs, cache.plan, cache.table))
        after = self.rows_of(cache.table)
        names = tuple(column.name for column in cache.plan.columns)
        if self.options.feed:
            self._feed(cache.table, before, after)
        cells = {row: tuple(map(_cell, row)) for row in {*before, *after}}
        rows = [(cells[row], after[row] - before[row]) for row in sorted(cells, key=repr)]
        return InlineDiff(names, tuple((row, weight) for row, weight in rows if weight))

    def refresh(self, post: Mapping[str, list[Row]]) -> BoundScript | None:
        """Change tables and maintain the view by one script; the script."""
        script = self.script(self.change(post))
        self.apply(script)
        return script

    def script(self, diffs: Mapping[str, InlineDiff], plan: Plan | None = None, target: str = VIEW) -> BoundScript | None:
        """The refresh that these net diffs call for: of the view, unless another maintained table is meant."""
        bound: Mapping[str, NetDiff] = diffs
        if self.options.feed:
            bound = {name: FeedDiff(name, 0, 1) for name in diffs}
        return bind(plan or self.plan, Binding(diffs=bound, dialect=DUCKDB), target, optimised=self.options.optimised,
                    additive=self.options.additive)

    def apply(self, script: BoundScript | None) -> int:
        """Run the MERGE; how many view rows it touched. Raises `Collision` where Delta would refuse it."""
        if script is None:
            return 0
        for each in script.staged:
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {each.name} AS {DUCKDB.sql(each.query, pretty=False)}")
        if script.shape == "direct":
            self._refuse_collisions(script)
        found = self.connection.execute(DUCKDB.sql(script.merge, pretty=False)).fetchone()
        return int(found[0]) if found else 0

    def _refuse_collisions(self, script: BoundScript) -> None:
        """Delta refuses two source rows for one target row whatever its clauses say; DuckDB only where both would change it."""
        whens = script.merge.args["whens"].expressions
        if len(whens) == 1 and isinstance(whens[0].args["then"], sqlglot.exp.Var) and not whens[0].args.get("condition"):
            return  # deleting a row twice is allowed
        target, source, on = (script.merge.args[part].copy() for part in ("this", "using", "on"))
        matches = sqlglot.exp.Select(expressions=[sqlglot.exp.column("rowid", target.alias)]).from_(target)
        matches = matches.join(sqlglot.exp.Join(this=source, on=on)).group_by("1").having("count(*) > 1")
        if self.connection.execute(DUCKDB.sql(matches, pretty=False)).fetchone():
            raise Collision

    @property
    def maintained_tables(self) -> dict[str, Plan]:
        """The caches and the view."""
        return {**{cache.table: cache.plan for cache in self.plan.caches}, VIEW: self.plan}

    def stored(self) -> Counter[Row]:
        """The maintained view's rows, all stored columns."""
        return self.rows_of(VIEW)

    def rows_of(self, table: str) -> Counter[Row]:
        return Counter(self.connection.execute(f"SELECT * FROM {table}").fetchall())

    def wrong_caches(self) -> list[str]:
        """The caches that are not equal to their subviews over base tables."""
        return [cache.table for cache in self.plan.caches if self.rows_of(cache.table) != Counter(
            self.connection.execute(self._query(cache.plan)).fetchall())]

    def maintained(self) -> Counter[Row]:
        """The maintained view as the user sees it."""
        names = ", ".join(_quoted(column.name) for column in self.plan.columns if not column.hidden)
        return Counter(self.connection.execute(f"SELECT {names} FROM {VIEW}").fetchall())

    def recomputed(self) -> Counter[Row]:
        """The user's own SQL, run now."""
        return Counter(self.connection.execute(self.oracle).fetchall())

    def extended(self) -> Counter[Row]:
        """The ID-extended view, run now: hidden columns and operator caches included."""
        return Counter(self.connection.execute(self._extended).fetchall())

    @cached_property
    def _extended(self) -> str:
        return self._query(self.plan)

    def _query(self, plan: Plan) -> str:
        """A maintained table's rows over base tables."""
        return self._read_query(over_tables(plan, self.plan.caches))

    def _read_query(self, plan: Plan) -> str:
        """The same over the caches that the plan reads."""
        return DUCKDB.sql(full_query(plan, Binding(dialect=DUCKDB)), pretty=False)

    def _typed_plan(self) -> Plan:
        """The plan with the types that the engine gives the columns of each cache, asked for one cache after the other."""
        stored: dict[str, dict[str, str]] = {}
        while True:
            self.plan = plan_of(self.tables, self.sql, self.options, stored)
            untold = next((cache for cache in self.plan.caches if cache.table not in stored), None)
            if untold is None:
                return self.plan
            described = self.connection.execute(f"DESCRIBE {self._query(untold.plan)}").fetchall()
            stored[untold.table] = {name: _spark_type(kind) for name, kind, *_ in described}

    def _replace(self, name: str, rows: list[Row]) -> None:
        self.content[name] = list(rows)
        self.connection.execute(f'DELETE FROM "{name}"')
        self._insert(name, rows)

    def _insert(self, name: str, rows: list[Row]) -> None:
        if rows:
            marks = f"({', '.join('?' for _ in rows[0])})"
            cells = [value for row in rows for value in row]
            self.connection.execute(f'INSERT INTO "{name}" VALUES {", ".join(marks for _ in rows)}', cells)

    def _feed(self, table: str, before: Counter[Row], after: Counter[Row]) -> None:
        """A change feed that says more than the net diff: every row of the table goes and comes, and one more comes and goes."""
        self.connection.execute(f'DELETE FROM "{table}__changes"')
        passing = [*after, *before][:1]
        for rows, change in ((before, "delete"), (after, "insert")):
            self._insert(f"{table}__changes", [(*row, change) for row in (*rows.elements(), *passing)])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duck_type(kind: str) -> str:
    return sqlglot.exp.DataType.build(kind, dialect="spark").sql("duckdb")


def _spark_type(kind: str) -> str:
    """DuckDB's sums of integers are HUGEINT, Spark's BIGINT."""
    return "bigint" if kind == "HUGEINT" else sqlglot.exp.DataType.build(kind, dialect="duckdb").sql("spark").lower()


def _cell(value: Any) -> Value:
    """A value that was read as one that is inlined."""
    return value if value is None or isinstance(value, int | str) else repr(value) if isinstance(value, float) else str(value)

"""A view, its tables and their changes on DuckDB: maintain it by the planner's MERGE and compare with recomputation."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

import duckdb
import sqlglot

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog, TableInfo
from dbt_idivm.frontend.lower import lower
from dbt_idivm.operators.scan import Attribute, base_idiffs
from dbt_idivm.optimize import optimize
from dbt_idivm.passes.propagate import propagate
from dbt_idivm.script.bind import BoundScript, bind, full_query
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.diff import FeedDiff, InlineDiff, NetDiff, Row
from dbt_idivm.script.plan import Plan, Strategy

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
    strategy: Strategy = "id"
    feed: bool = False  # the net diff stays a query over the change feed
    split: bool = True  # base i-diffs by conditional attributes; else operators convert updates of what they test


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
        self.connection = _cursor()
        self.connection.execute(f"CREATE SCHEMA {self.schema}; SET schema = '{self.schema}'")
        for table in self.tables:
            columns = ", ".join(f"{_quoted(name)} {_duck_type(kind)}" for name, kind in table.columns)
            self.connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
            if self.options.feed:
                self.connection.execute(f'CREATE TABLE "{table.name}__changes" ({columns}, _change_type VARCHAR)')
            self.content[table.name] = []
        self.plan = plan_of(self.tables, self.sql, self.options)
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
        self.connection.execute(f"CREATE OR REPLACE TABLE {VIEW} AS " + self._extended)

    def change(self, post: Mapping[str, list[Row]]) -> dict[str, InlineDiff]:
        """Replace the content of some tables; the net diffs."""
        diffs = {}
        for name, content in post.items():
            table = next(t for t in self.tables if t.name == name)
            before, after = Counter(self.content[name]), Counter(content)
            self._replace(name, content)
            rows = [(row, after[row] - before[row]) for row in sorted({*before, *after}, key=repr)]
            diffs[name] = InlineDiff(table.names, tuple((row, weight) for row, weight in rows if weight))
            if self.options.feed:
                self._feed(table, before, after)
        return {name: diff for name, diff in diffs.items() if diff.rows}

    def refresh(self, post: Mapping[str, list[Row]]) -> BoundScript | None:
        """Change tables and maintain the view by one script; the script."""
        script = self.script(self.change(post))
        self.apply(script)
        return script

    def script(self, diffs: Mapping[str, InlineDiff]) -> BoundScript | None:
        """The refresh that these net diffs call for."""
        bound: Mapping[str, NetDiff] = diffs
        if self.options.feed:
            bound = {name: FeedDiff(name, 0, 1) for name in diffs}
        return bind(self.plan, Binding(diffs=bound, dialect=DUCKDB), VIEW, optimised=self.options.optimised,
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

    def stored(self) -> Counter[Row]:
        """The maintained view's rows, all stored columns."""
        return Counter(self.connection.execute(f"SELECT * FROM {VIEW}").fetchall())

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
        return DUCKDB.sql(full_query(self.plan, Binding(dialect=DUCKDB)), pretty=False)

    def _replace(self, name: str, rows: list[Row]) -> None:
        self.content[name] = list(rows)
        self.connection.execute(f'DELETE FROM "{name}"')
        self._insert(name, rows)

    def _insert(self, name: str, rows: list[Row]) -> None:
        if rows:
            marks = f"({', '.join('?' for _ in rows[0])})"
            cells = [value for row in rows for value in row]
            self.connection.execute(f'INSERT INTO "{name}" VALUES {", ".join(marks for _ in rows)}', cells)

    def _feed(self, table: Table, before: Counter[Row], after: Counter[Row]) -> None:
        """A change feed that says more than the net diff: every row of the table goes and comes."""
        self.connection.execute(f'DELETE FROM "{table.name}__changes"')
        for rows, change in ((before, "delete"), (after, "insert")):
            self._insert(f"{table.name}__changes", [(*row, change) for row in rows.elements()])


def plan_of(tables: tuple[Table, ...], sql: str, options: Options) -> Plan:
    lowered = lower(sql, Catalog({table.name: table.info() for table in tables}))
    plan = compile_plan(lowered.root, lowered.output, strategy=options.strategy, caches=options.additive)
    return plan if options.split or options.strategy == "tuple" else without_split(plan)


def without_split(plan: Plan) -> Plan:
    """The plan with every change of a row as UPD, so that each operator must convert what moves rows.

    The compiler never makes it, because it recomputes rows that did not move; it fires the rules that guard conversions.
    """
    base = {scan.occurrence: base_idiffs(scan, frozenset()) for scan in plan.scans}
    found = propagate(plan.root, base)
    return replace(plan, base=base, naive=found.idiffs, idiffs=optimize(found.idiffs), firings=found.firings)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _duck_type(kind: str) -> str:
    return sqlglot.exp.DataType.build(kind, dialect="spark").sql("duckdb")

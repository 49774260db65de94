"""Two runs at once on an engine whose commits carry nothing, one interleaving after the other: a view is never left wrong.

The statements of the ledger and those that write are executed by DuckDB. A write is two events: it begins, which evaluates its
rows and its claim, and it commits, unless another transaction that it has not seen was committed in between, as Delta has it.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dbt_idivm.errors import IdivmError
from dbt_idivm.refresh.catalog import history
from dbt_idivm.refresh.engine import claims
from dbt_idivm.refresh.engine.claims import fenced
from dbt_idivm.refresh.engine.client import Client
from dbt_idivm.refresh.engine.commits import Guard
from dbt_idivm.refresh.engine.engine import sql_warehouse
from dbt_idivm.refresh.engine.ledger import NotAlone
from dbt_idivm.refresh.engine.scoped import committed
from dbt_idivm.refresh.engine.steps import EngineFailure, Steps
from dbt_idivm.refresh.protocol import EngineError, Reply, Rows, Statement
from dbt_idivm.script.dialect import DELTA

VIEW, LEDGER = "lake.main.v", "lake.main.idivm__state"
COLUMNS = ("version", "timestamp", "operation", "operationParameters", "operationMetrics", "userMetadata")
AT = dt.datetime(2026, 11, 26, 9, 0, tzinfo=dt.UTC)
Events = Generator[None, None, None]


@dataclass
class Lake:
    """A view whose rows are the numbers of its input: at first 1; and the ledger."""

    database: Any = field(default_factory=duckdb.connect)
    commits: list[tuple[str, int]] = field(default_factory=lambda: [("CREATE TABLE AS SELECT", 1)])
    input: int = 1
    seen: list[Counter[int]] = field(default_factory=list)  # the rows after each write

    def __post_init__(self) -> None:
        self.database.execute(
            "attach ':memory:' as lake; create table lake.main.v as select 1 as id; "
            "create macro lake.main.raise_error(m) as error(m); use lake.main"
        )

    @property
    def rows(self) -> Counter[int]:
        return Counter(row[0] for row in self.database.execute("select id from lake.main.v").fetchall())

    @property
    def wanted(self) -> Counter[int]:
        return Counter(range(1, self.input + 1))

    def answer(self, statement: Statement) -> Reply:
        if statement.sql.startswith("DESCRIBE HISTORY"):
            rows = [
                (number, AT + dt.timedelta(minutes=number), operation, [], [("numOutputRows", str(rows))], None)
                for number, (operation, rows) in enumerate(self.commits)
            ]
            return Rows(COLUMNS, tuple(reversed(rows))[: int(statement.sql.rpartition(" ")[2])])
        return self.executed(sqlglot.transpile(statement.sql, read="spark", write="duckdb")[0])

    def executed(self, sql: str) -> Reply:
        try:
            found = self.database.execute(sql).fetchall()
        except duckdb.CatalogException as error:
            return EngineError("TABLE_OR_VIEW_NOT_FOUND", str(error))
        except duckdb.Error as error:
            return EngineError("USER_RAISED_EXCEPTION", str(error))
        return Rows((), tuple(tuple(row) for row in found))

    def write(self, statement: Statement) -> Generator[None, None, Reply]:
        """The reply of a write; between its two events others may come."""
        tree = sqlglot.parse_one(statement.sql, dialect="spark")
        assert isinstance(tree, exp.Insert)
        seen = len(self.commits)
        evaluated = self.executed(tree.expression.sql("duckdb"))
        yield
        if isinstance(evaluated, EngineError):
            return evaluated
        if len(self.commits) > seen:
            return EngineError("DELTA_CONCURRENT_APPEND", "[DELTA_CONCURRENT_APPEND] files were added")
        if tree.args.get("overwrite"):
            self.database.execute("delete from lake.main.v")
        self.database.executemany("insert into lake.main.v values (?)", [list(row) for row in evaluated.rows])
        self.commits.append(("WRITE", len(evaluated.rows)))
        self.seen.append(self.rows)
        return Rows()


def refreshed(client: Client, lake: Lake) -> Steps[str]:
    """A refresh as the driver does it: by what is recorded it appends what is new, or else replaces all rows."""
    for _ in range(2):
        newest = (yield from history.newest(client, VIEW, 1))[0]
        assert newest.claimed is not None
        known = int(newest.user_metadata) if newest.user_metadata and newest.claimed.finished else None
        if known == lake.input:
            return "noop"
        new = exp.Values(
            expressions=[exp.Tuple(expressions=[exp.Literal.number(each)]) for each in range((known or 0) + 1, lake.input + 1)],
            alias=exp.TableAlias(this=exp.to_identifier("t"), columns=[exp.to_identifier("id")]),
        )
        tree = exp.select("id").from_(new)
        insert = exp.Insert(this=DELTA.table(VIEW, None), expression=tree, overwrite=known is None)
        statement = Statement(DELTA.sql(insert), "write", "write", tree=insert)
        try:
            yield from committed(client, statement, VIEW, str(lake.input), Guard.of(VIEW, newest.version, newest.claimed.number))
            return "full" if known is None else "incremental"
        except NotAlone:
            continue
    return "failed"


@dataclass
class Run:
    """A refresh in events. `resend`: whether its write is sent once more after it was executed."""

    lake: Lake
    resend: bool = False
    outcome: str = ""
    late: Statement | None = None

    def events(self) -> Events:
        steps = refreshed(Client(sql_warehouse(LEDGER, VIEW, {}, "UTC")), self.lake)
        reply: Reply | None = None
        try:
            while True:
                statement = next(steps) if reply is None else steps.send(reply)
                if statement.kind == "write":
                    self.late = statement
                    reply = yield from self.lake.write(statement)
                    if self.resend:
                        self.resend = False
                        yield
                        yield from self.lake.write(statement)
                else:
                    reply = self.lake.answer(statement)
                yield
        except StopIteration as stop:
            self.outcome = stop.value
        except IdivmError as error:
            self.outcome = error.codes[0]
        except EngineFailure as failure:
            self.outcome = failure.error.error_class


def alone(lake: Lake) -> str:
    run = Run(lake)
    list(run.events())
    return run.outcome


def advance(events: Events, count: int | None = None) -> None:
    list(itertools.islice(events, count))


def begun() -> Lake:
    """A view with a record, and a row more in its input."""
    lake = Lake()
    assert alone(lake) == "full"
    lake.input += 1
    return lake


def length(made: Callable[[], Lake], **options: Any) -> int:
    return sum(1 for _ in Run(made(), **options).events())


def of_two_runs() -> Iterator[tuple[str, Lake, tuple[Run, Run]]]:
    """One gets so far, the other so far, then the first goes on to its end, and the other."""
    count = length(begun)
    for first, other in itertools.product(range(count + 1), range(1, count + 1)):
        lake = begun()
        runs = (Run(lake), Run(lake))
        events = [run.events() for run in runs]
        advance(events[0], first)
        advance(events[1], other)
        advance(events[0])
        advance(events[1])
        yield f"{first} of one, {other} of the other", lake, runs


def wrong(found: Iterator[tuple[str, Lake, tuple[Run, ...]]]) -> Iterator[str]:
    """The interleavings in which the view had neither the old rows nor the new ones at some time, or the old ones though a run
    says that it succeeded; and those after whose next run it is not right."""
    for name, lake, runs in found:
        done = any(run.outcome in ("incremental", "full", "noop") for run in runs)
        allowed = (Counter({1: 1}), lake.wanted)
        if any(each not in allowed for each in lake.seen) or (done and lake.rows != lake.wanted):
            yield f"{name}: {lake.seen}, {[run.outcome for run in runs]}"
        lake.input += 1
        alone(lake)
        if lake.rows != lake.wanted or alone(lake) != "noop":
            yield f"{name}, after the next run: {lake.rows}"


def test_two_runs_at_once_leave_a_view_right_and_one_of_them_succeeds() -> None:
    found = list(of_two_runs())
    assert list(wrong(iter(found))) == []
    outcomes = Counter(tuple(sorted(run.outcome for run in runs)) for _, _, runs in found)
    assert not {("incremental", "incremental"), ("incremental", "full")} & outcomes.keys(), outcomes
    assert all(any(each in ("incremental", "full") for each in pair) for pair in outcomes), outcomes


def of_three_runs(seed: int, count: int) -> Iterator[tuple[str, Lake, tuple[Run, ...]]]:
    """In a random order; one of them may stop for ever, and one sends its write twice."""
    chance = random.Random(seed)
    for number in range(count):
        lake = begun()
        runs = (Run(lake), Run(lake), Run(lake, resend=True))
        events = [run.events() for run in runs]
        going = [0, 1, 2]
        while going:
            each = chance.choice(going)
            if chance.random() < 0.02 or next(events[each], events) is events:
                going.remove(each)
        yield f"{seed}/{number}", lake, runs


def test_three_runs_in_any_order_are_right_after_the_next() -> None:
    """A statement that is sent again before its run has recorded it is the window that is left."""
    bad = []
    for name, lake, _ in of_three_runs(7, 40):
        lake.input += 1
        alone(lake)
        if lake.rows != lake.wanted or alone(lake) != "noop":
            bad.append(name)
    assert bad == []


def test_a_write_that_is_sent_twice_is_repaired_by_its_run() -> None:
    lake = begun()
    run = Run(lake, resend=True)
    list(run.events())
    assert run.outcome == "full" and lake.rows == lake.wanted


def test_a_write_that_is_late_changes_nothing() -> None:
    """After its run has recorded it; and after another run has claimed the view, at whatever event its own run stopped."""
    count = length(begun)
    for stop in range(count + 1):
        lake = begun()
        run = Run(lake)
        advance(run.events(), stop)
        assert alone(lake) in ("incremental", "full", "noop"), stop
        assert lake.rows == lake.wanted
        if run.late is not None:
            list(lake.write(run.late))
            assert lake.rows == lake.wanted, stop


def test_a_run_that_stopped_costs_a_rebuild_from_its_claim_on() -> None:
    modes = []
    for stop in range(length(begun) + 1):
        lake = begun()
        advance(Run(lake).events(), stop)
        modes.append(alone(lake))
        assert lake.rows == lake.wanted
    assert modes[0] == "incremental" and modes[-1] == "noop" and "full" in modes
    assert modes == sorted(modes, key=["incremental", "full", "noop"].index)


@pytest.mark.parametrize("part", ["the condition", "the claim's number", "the order of looking"])
def test_each_part_is_needed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, some interleaving leaves a view wrong."""
    if part == "the condition":
        monkeypatch.setattr(claims, "fenced", lambda write, condition, target: write)
    elif part == "the claim's number":
        plain = Guard.of
        monkeypatch.setattr(Guard, "of", lambda table, version, claimed=None: plain(table, version, None))
    else:
        monkeypatch.setattr(history, "newest", _history_first)
    assert next(wrong(of_two_runs()), None) is not None


def _history_first(client: Client, table: str, limit: int) -> Steps[tuple[history.Commit, ...]]:
    from dataclasses import replace

    from dbt_idivm.refresh.engine.ledger import recorded

    found = history.commits((yield from client.ask(client.commands.history(table, limit))), client.engine.commits)
    assert client.engine.ledger is not None
    known, claimed = yield from recorded(client, client.engine.ledger, table)
    return tuple(replace(each, user_metadata=known.get((each.version, each.at)), claimed=claimed) for each in found)


@pytest.mark.parametrize(
    "sql",
    [
        "MERGE INTO m.v AS v USING (SELECT 1 AS id) AS d ON v.id <=> d.id WHEN MATCHED THEN DELETE",
        "INSERT INTO m.v (id) SELECT 1 AS id",
        "INSERT INTO m.v REPLACE WHERE id = 1 SELECT 1 AS id",
        "INSERT OVERWRITE TABLE m.v SELECT 1 AS id",
        "UPDATE m.v AS v SET id = 2 WHERE v.id = 1",
        "DELETE FROM m.v AS v WHERE v.id = 1",
        "DELETE FROM m.v",
        "CREATE OR REPLACE TABLE m.v USING DELTA AS SELECT 1 AS id",
    ],
)
def test_every_kind_of_write_is_fenced(sql: str) -> None:
    """What it says is unchanged but for the condition; UPDATE and DELETE are MERGEs, and an INSERT reads its table."""
    condition = exp.EQ(this=exp.column("stands"), expression=exp.true())
    tree = sqlglot.parse_one(sql, dialect="spark")
    found = fenced(tree, condition, exp.to_table("m.v"))
    assert tree == sqlglot.parse_one(sql, dialect="spark"), "trees are not changed"
    text = found.sql("spark")
    assert "WHERE stands = TRUE" in text
    assert text.startswith("MERGE" if sql.startswith(("UPDATE", "DELETE")) else sql.split("SELECT")[0].strip("( ")), text
    assert ("FROM m.v LIMIT 1" in text) is sql.startswith("INSERT"), text

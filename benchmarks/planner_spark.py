"""What Spark takes for the statements of `planner.py`: parsed, analysed and run over empty tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.engine import Session, engine
from benchmarks.planner import MODEL, Statement, planned, statements, timed
from benchmarks.planner_families import SCHEMA, Sized
from benchmarks.view_selection import table
from dbt_idivm.algebra.expressions import identifier
from dbt_idivm.algebra.operator import SIGN
from dbt_idivm.algebra.types import name_of_type
from dbt_idivm.operators.scan import DiffRows, Scan
from dbt_idivm.script.leaves import diff_leaves, leaves
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import STRATEGIES

HEAD = ("family", "size", "way", "KB", "parse, s", "analyse, s", "run, s")
# not counted: what Spark loads for a first statement
FIRST = Sized(f"select id, count(*) as number from {SCHEMA}.first group by id", {"first": ([("id", "bigint")], True)})
Columns = Sequence[tuple[str, str]]


def report(chosen: Mapping[str, Sequence[tuple[int, Sized]]], memory: str, runs: bool) -> str:
    """A table of the largest statements of each model; `runs`: whether they are run as well."""
    with engine(memory) as started:
        session = started.session()
        session.run(f"create schema {SCHEMA}")
        timings(session, FIRST, runs=True)
        found = [
            (name, str(size), *cells)
            for name, models in chosen.items()
            for size, model in models
            for cells in timings(session, model, runs)
        ]
    return table(HEAD, found)


def timings(session: Session, model: Sized, runs: bool) -> list[tuple[str, ...]]:
    """For the model's largest statements, over tables that are removed again: way, kilobytes and seconds of each."""
    found = []
    for each in largest(planned(model)):
        with_tables(session, model, each)
        parsing, parsed = timed(lambda sql=each.sql: _state(session).sqlParser().parsePlan(sql))
        analysing, _ = timed(lambda tree=parsed: _analysed(session, tree))
        running = f"{timed(lambda sql=each.sql: session.run(sql))[0]:.2f}" if runs else ""
        session.run(*(f"drop table {SCHEMA}.{name}" for name in model.tables), f"drop table {MODEL}")
        found.append((each.way, f"{len(each.sql.encode()) / 1024:.1f}", f"{parsing:.2f}", f"{analysing:.2f}", running))
    return found


def largest(plan: Plan) -> list[Statement]:
    """The largest statement under `strategy: id`, and the one under `auto` if that is another."""
    every = list(statements(plan))
    of_id = [each for each in every if each.way in STRATEGIES["id"]]
    found = (max(some, key=lambda each: len(each.sql)) for some in (of_id, every) if some)
    return list({each.sql: each for each in found}.values())


def _state(session: Session) -> Any:
    return session.spark._jsparkSession.sessionState()


def _analysed(session: Session, parsed: Any) -> Any:
    """What Spark's analyzer makes of a parsed statement, without running it."""
    skip = session.spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    return _state(session).executePlan(parsed, skip).analyzed()


def with_tables(session: Session, model: Sized, statement: Statement) -> None:
    """Make the tables that the statement reads and writes, and its base i-diffs as views of no rows."""
    for name, (columns, _) in model.tables.items():
        _make(session, f"table {SCHEMA}.{name}", columns, " using delta")
    plan = statement.plan
    _make(
        session,
        f"table {MODEL}",
        [(each.name, name_of_type(plan.root.types[each.attribute])) for each in plan.columns],
        " using delta",
    )
    for leaf in _diffs(statement).values():
        columns = [(name, name_of_type(leaf.types[name])) for name in leaf.columns]
        nothing = ", ".join(f"cast(null as {kind}) as {_quoted(name)}" for name, kind in columns)
        session.run(f"create or replace temporary view {_quoted(leaf.name)} as select {nothing} where false")


def _diffs(statement: Statement) -> Mapping[str, DiffRows]:
    """The base i-diffs that it reads, by name, and those that the earlier state of each table is made of."""
    done = statement.application
    read = (*done.relations, *done.perhaps)
    scans = dict.fromkeys(leaf for each in read for leaf in leaves(each) if isinstance(leaf, Scan))
    found = (
        *diff_leaves(*read),
        *(
            leaf
            for scan in scans
            for leaf in (
                DiffRows(scan, "plus", scan.columns),
                DiffRows(scan, "minus", scan.columns),
                DiffRows(scan, "signed", (*scan.columns, SIGN)),
            )
        ),
    )
    return {leaf.name: leaf for leaf in found}


def _make(session: Session, what: str, columns: Columns, using: str) -> None:
    session.run(f"create {what} ({', '.join(f'{_quoted(name)} {kind}' for name, kind in columns)}){using}")


def _quoted(name: str) -> str:
    return identifier(name).sql("spark")

"""Constants of a definition that move, forth and back, between batches of changes: the stored rows, hidden columns included, are
those of the new definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import cycle, product

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dbt_idivm.adaptation import moved as moved_module
from dbt_idivm.adaptation import moving
from dbt_idivm.adaptation.moved import Moved, moved
from dbt_idivm.algebra.types import type_of
from dbt_idivm.algebra.written_time import at_time
from dbt_idivm.errors import IdivmError
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import encode
from dbt_idivm.script.diff import Row, fetched_row
from dbt_idivm.script.render import full_query
from tests.property import test_clock
from tests.property.chosen import some
from tests.property.directed import DIRECTED, build
from tests.property.harness import NOW, VIEW, Options, World
from tests.property.meaning import SPARK, OnSpark
from tests.property.strategies import Case, Content, cases

# no refresh compares the states of reached rows for a constant that moved
WAYS = {name: each for name, each in test_clock.WAYS.items() if not each.compared}
Patch = pytest.MonkeyPatch
FAILS = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)


@dataclass(frozen=True)
class Moves:
    """A case whose text has places `{}`, and the constants that it has in turn, before and after each batch."""

    case: Case
    constants: tuple[tuple[str, ...], ...]

    def sql(self, number: int) -> str:
        text = self.case.sql
        for each in self.constants[number % len(self.constants)]:
            text = text.replace("{}", each, 1)
        return text


def values_of(world: World, found: Moved) -> tuple[Row, Row]:
    """The values of the constants before and after the edit, as the engine evaluates them."""
    pairs = [(each.kind, at_time(value, world.time)) for each in found.constants.values() for value in (each.old, each.new)]
    cells = [encode(exp.cast(value, type_of(kind)), kind) for kind, value in pairs]
    (row,) = world.engine.rows(exp.Select(expressions=cells)) if cells else [()]
    values = fetched_row([kind for kind, _ in pairs], row)
    return values[::2], values[1::2]


def edited(world: World, sql: str) -> Moved | None:
    """Migrate the stored rows to another text; None if it is another edit than one of constants."""
    new = world.typed_plan(sql, world.options)
    found = moved(world.plan, new, VIEW)
    if found is None:
        return None
    old, now = values_of(world, found)
    world.values = dict(zip(found.constants, now, strict=True))
    diffs = found.changes(old, now).diffs
    world.apply(world.script(dict(diffs), found.plan) if diffs else None)  # type: ignore[arg-type]
    world.is_now(new, sql)
    return found


def compare(world: World) -> None:
    assert world.maintained() == world.recomputed()
    if world.plan.hidden:
        assert world.stored() == world.extended(), "hidden columns or operator caches differ"


def steps(moves: Moves) -> Iterator[str]:
    """The texts in turn."""
    return cycle(moves.sql(number) for number in range(len(moves.constants)))


def check(moves: Moves, options: Options, *, rebuilds: bool = False) -> None:
    """`rebuilds`: whether the view is rebuilt where constants are no input."""
    texts = steps(moves)
    with World(moves.case.tables, next(texts), options) as world:
        world.load(moves.case.start)
        compare(world)
        for batch in moves.case.batches:
            for _ in range(2):  # on another day, and on the next one with changes
                sql = next(texts)
                if edited(world, sql) is None:
                    assert rebuilds, sql
                    world.is_now(world.typed_plan(sql, options), sql)
                    world.build()
                compare(world)
            world.refresh(batch)
            compare(world)


_TABLES = (
    "t0(k int, d date, x int, m decimal(10,2), s string, f double; k)\nt1(k int, e date, y int; k)\nt2(k int, ts timestamp; k)"
)
_BAGS = "t0(d date, x int, s string)\nt1(k int, e date, y int; k)"
_T0: list[Row] = [
    (1, "2026-01-01", 1, "1.25", "a", "0.5"),
    (2, "2026-01-15", 1, "2.00", "b", "0.0"),
    (3, "2026-02-01", 2, None, "a", None),
    (4, "2026-02-20", None, "0.50", None, "1.5"),
    (5, None, 2, "2.50", "c", "-1.0"),
    (6, "2026-03-01", 3, "-2.00", "b", "0.5"),
]
_T1: list[Row] = [
    (1, "2026-01-10", 1),
    (2, "2026-02-10", 2),
    (3, None, 2),
    (4, "2026-02-28", 3),
]
# The harness has no changes of timestamps.
_T2: list[Row] = [(1, "2026-01-10 10:00:00"), (2, "2026-02-10 00:00:00"), (3, None), (4, "2026-02-28 23:59:59.5")]
_BATCHES: tuple[Content, ...] = (
    {"t0": [*_T0[1:], (9, "2026-02-02", 1, "1.00", "a", "0.25")]},
    {
        "t0": [
            (1, "2026-02-15", 2, "2.25", "b", "0.5"),
            *_T0[2:4],
            (6, None, 3, "2.00", "a", None),
            (8, "2026-01-16", 1, None, "c", "2.0"),
        ],
        "t1": _T1[1:],
    },
    {"t1": [(1, "2026-02-10", 1), (2, "2026-01-24", 2), (5, "2026-01-01", 1)]},
    {"t0": _T0, "t1": _T1},
)
_BAG_BATCHES: tuple[Content, ...] = tuple(
    {"t0": [(d, x, s) for _, d, x, _, s, _ in each["t0"]] * 2} for each in _BATCHES if "t0" in each
)


def _of(sql: str, *constants: str | tuple[str, ...]) -> Moves:
    found = tuple(each if isinstance(each, tuple) else (each,) for each in constants)
    return Moves(build(_TABLES, sql, {"t0": _T0, "t1": _T1, "t2": _T2}, *_BATCHES), found)


def _of_bags(sql: str, *constants: str) -> Moves:
    start: Content = {"t0": [(d, x, s) for _, d, x, _, s, _ in _T0 + _T0[:2]], "t1": _T1}
    return Moves(build(_BAGS, sql, start, *_BAG_BATCHES), tuple((each,) for each in constants))


_DAYS = ("'2026-01-10'", "'2026-02-01'", "'2026-01-15'", "'2026-03-05'", "'2025-12-31'")
_DATES = tuple(f"DATE {each}" for each in _DAYS)
_STARTED = ("2026-01-10", "2026-02-15", "2026-02-14")
_AT = tuple({NOW: [(f"2026-{day} 10:00:00",)]} for day in ("02-01", "02-02", "03-01", "01-20", "02-25"))


def _of_clock(sql: str, *constants: str) -> Moves:
    """The clock moves with each batch."""
    start, *batches = ({**rows, **now} for rows, now in zip(({"t0": _T0, "t1": _T1, "t2": _T2}, *_BATCHES), _AT, strict=True))
    return Moves(build(_TABLES, sql, start, *batches), tuple((each,) for each in constants))


CASES = {
    "days before today": _of_clock("SELECT k, d FROM t0 WHERE d >= current_date() - INTERVAL {} DAYS", "15", "30", "20"),
    "another constant beside the clock": _of_clock("SELECT k, d < current_date() AS late FROM t0 WHERE x > {}", "0", "1", "2"),
    "today or a day": _of_clock("SELECT k, d FROM t0 WHERE d >= {}", "current_date()", "DATE '2026-01-20'"),
    "groups of days before today": _of_clock(
        "SELECT x, count(*) AS n, sum(k) AS s FROM t0 WHERE d < current_date() AND d > current_date() - INTERVAL {} DAYS GROUP BY x",
        "15",
        "30",
    ),
    "partners of days before today": _of_clock(
        "SELECT a.k, b.k AS l FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y AND b.e >= current_date() - INTERVAL {} DAYS", "5", "30"
    ),
    "years before this one": _of_clock("SELECT k, d FROM t0 WHERE year(d) >= year(current_date()) - {}", "0", "1"),
    "a condition over a stored column": _of("SELECT k, x FROM t0 WHERE x > {}", "0", "2", "1"),
    "a condition over another column": _of("SELECT k, s FROM t0 WHERE x > {}", "0", "2", "1"),
    "a text beside a date": _of("SELECT k, d FROM t0 WHERE d >= {}", *_DAYS),
    "a date": _of("SELECT k, x FROM t0 WHERE d >= {} OR d IS NULL", *_DATES),
    "a text beside a timestamp": _of(
        "SELECT a.k, a.x FROM t0 AS a JOIN t2 ON t2.k = a.k AND ts >= {}", "'2026-01-10 10:00:00'", "'2026-02-10'"
    ),
    "both ends of a window": _of(
        "SELECT k, x FROM t0 WHERE d BETWEEN {} AND {}", ("'2026-01-01'", "'2026-02-01'"), ("'2026-01-15'", "'2026-03-01'")
    ),
    "the run's start": _of("SELECT k, d FROM t0 WHERE d >= '{}'::date - interval 30 days", *_STARTED),
    "the run's start in a column": _of("SELECT k, d, '{}' AS loaded_at FROM t0", *_STARTED),
    "the run's start in both": _of(
        "SELECT k, '{}' AS loaded_at FROM t0 WHERE d >= '{}'::date - interval 30 days", *((each, each) for each in _STARTED)
    ),
    "days of an interval": _of("SELECT k, d FROM t0 WHERE d >= DATE '2026-03-01' - INTERVAL {} DAYS", "30", "60", "45"),
    "one of a list": _of("SELECT k, s FROM t0 WHERE x IN (1, {})", "2", "3", "1"),
    "one of a list of texts": _of("SELECT k, x FROM t0 WHERE s IN ('a', '{}')", "b", "c", "a"),
    "a list of dates": _of("SELECT k, x FROM t0 WHERE d NOT IN ('2026-01-01', {})", *_DAYS),
    "a text": _of("SELECT k, x FROM t0 WHERE s <> '{}'", "a", "b"),
    "a number beside a DECIMAL": _of("SELECT k, x FROM t0 WHERE m >= {}", "1", "2"),
    "a DECIMAL": _of("SELECT k, m * {} AS v FROM t0 WHERE m > {}", ("1.5", "0.50"), ("2.5", "1.25")),
    "a number beside a DOUBLE": _of("SELECT k, f * {} AS v FROM t0 WHERE f > {}", ("2", "0"), ("3", "1"), ("4", "0")),
    "a sum": _of("SELECT k, x + {} AS v FROM t0", "1", "2"),
    "negative numbers": _of("SELECT k, x FROM t0 WHERE x - 3 > {}", "-3", "-1", "-2"),
    "a value by cases": _of(
        "SELECT k, CASE WHEN x > {} THEN 'more' WHEN x = 0 THEN '{}' ELSE s END AS v FROM t0", ("1", "a"), ("2", "b")
    ),
    "a value that is there for NULL": _of("SELECT k, coalesce(x, {}) AS v FROM t0", "0", "5"),
    "a text that is put together": _of("SELECT k, '{}-' || s AS v FROM t0", "a", "b"),
    "copies": _of_bags("SELECT d, x FROM t0 WHERE d >= {}", *_DAYS),
    "copies of values": _of_bags("SELECT x, d < {} AS late FROM t0", *_DAYS),
    "copies of a join": _of_bags("SELECT a.x, b.y, b.e < {} AS z FROM t0 AS a JOIN t1 AS b ON a.x = b.y", *_DATES),
    "groups": _of("SELECT x, count(*) AS n, sum(k) AS s, max(d) AS m FROM t0 WHERE d >= {} GROUP BY x", *_DAYS),
    "one group": _of("SELECT count(*) AS n, sum(k) AS s, min(x) AS m FROM t0 WHERE d >= {}", *_DATES),
    "HAVING": _of("SELECT x, max(d) AS m FROM t0 GROUP BY x HAVING max(d) >= {}", *_DAYS),
    "HAVING over other rows": _of(
        "SELECT x, sum(k) AS s FROM t0 WHERE k > {} GROUP BY x HAVING count(*) > {}", ("0", "1"), ("1", "0")
    ),
    "sums by cases": _of(
        "SELECT x, sum(v) AS s FROM (SELECT x, CASE WHEN k > {} THEN k ELSE 0 END AS v FROM t0) AS q GROUP BY x", "1", "3"
    ),
    "groups by cases": _of("SELECT d < {} AS late, count(*) AS n FROM t0 GROUP BY 1", *_DAYS),
    "a join": _of("SELECT a.k, b.k AS l FROM t0 AS a JOIN t1 AS b ON a.x = b.y AND b.e <= {} AND a.d > b.e", *_DATES),
    "a padded side": _of("SELECT a.k, b.k AS l FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y AND b.e >= {}", *_DATES),
    "a preserved side": _of("SELECT a.k, b.k AS l FROM t0 AS a LEFT JOIN t1 AS b ON a.x = b.y AND a.d < {}", *_DATES),
    "both sides": _of(
        "SELECT a.k, b.k AS l FROM t0 AS a FULL JOIN t1 AS b ON a.x = b.y AND (a.k > {} OR b.k < {})", ("1", "2"), ("2", "4")
    ),
    "a padded value": _of("SELECT a.k, b.v FROM t0 AS a LEFT JOIN (SELECT k, y, {} AS v FROM t1) AS b ON a.x = b.y", "1", "2"),
    "a look-up": _of("SELECT a.k, b.y FROM t0 AS a LEFT JOIN (SELECT * FROM t1 WHERE y > {}) AS b ON a.x = b.k", "1", "2"),
    "EXISTS": _of("SELECT k FROM t0 WHERE EXISTS (SELECT 1 FROM t1 WHERE y = x AND e < {})", *_DATES),
    "NOT IN": _of("SELECT k, x FROM t0 WHERE x NOT IN (SELECT y FROM t1 WHERE y > {})", "1", "2"),
    "a CTE that is read twice": _of(
        "WITH q AS (SELECT * FROM t0 WHERE k > {}) SELECT a.k, b.n FROM q AS a JOIN (SELECT x, count(*) AS n FROM q GROUP BY x) AS b "
        "ON a.x = b.x",
        "1",
        "3",
        "2",
    ),
    "UNION ALL": _of(
        "SELECT k, '{}' AS s FROM t0 WHERE x > {} UNION ALL SELECT k, 'b' FROM t1 WHERE y < {}", ("a", "1", "2"), ("b", "2", "3")
    ),
    "UNION": _of("SELECT k, d FROM t0 WHERE d > {} UNION SELECT k, e FROM t1", *_DATES),
    "EXCEPT": _of("SELECT x FROM t0 EXCEPT SELECT y FROM t1 WHERE k > {}", "1", "3"),
    "DISTINCT": _of("SELECT DISTINCT x, d < {} AS late FROM t0", *_DAYS),
    "a scalar subquery": _of("SELECT k, (SELECT max(e) FROM t1 WHERE k > {}) AS m FROM t0", "1", "2"),
    "the last row": _of(
        "SELECT k, x FROM (SELECT *, row_number() OVER (PARTITION BY x ORDER BY d DESC, k) AS n FROM t0 WHERE d < {}) AS r WHERE n = 1",
        *_DATES,
    ),
    "running sums": _of("SELECT k, sum(CASE WHEN k > {} THEN k END) OVER (PARTITION BY x ORDER BY k) AS s FROM t0", "1", "3"),
    "the same constant twice": _of("SELECT k, x + {} AS v FROM t0 WHERE x > {}", ("1", "1"), ("2", "2"), ("1", "2")),
    "a key": _of("SELECT k, x FROM t0 WHERE k = {}", "1", "2"),
    "a time of writing": _of(
        "SELECT k, now() AS loaded_at, x + {} AS v FROM t0 WHERE d >= {}", *zip(("1", "2", "1"), _DAYS, strict=False)
    ),
    "no row": _of("SELECT x, {} AS v FROM t0 WHERE 1 > {}", ("1", "0"), ("2", "2")),
}


@pytest.mark.parametrize(("name", "way"), some(product(CASES, WAYS), 30))
def test_constants_move(name: str, way: str) -> None:
    check(CASES[name], WAYS[way])


@pytest.mark.deep
def test_constants_mean_in_spark_what_the_text_means() -> None:
    """As an input each constant has the type and the value that it has in the text, beside whatever it stands."""
    for moves in (each for each in CASES.values() if NOW not in each.case.start):
        with World(moves.case.tables, moves.sql(0), Options(), OnSpark) as world:
            world.load(moves.case.start)
            for number in range(1, len(moves.constants)):
                new = world.typed_plan(moves.sql(number), world.options)
                found = moved(world.plan, new, VIEW)
                assert found is not None, moves.sql(number)
                now = dict(zip(found.constants, values_of(world, found)[1], strict=True))
                query = full_query(replace(found.plan, times=()), Binding(dialect=SPARK, clock=now))
                wanted = full_query(replace(new, times=()), Binding(dialect=SPARK))
                assert Counter(world.engine.rows(query)) == Counter(world.engine.rows(wanted)), moves.sql(number)
                assert world.engine.types(query) == world.engine.types(wanted), moves.sql(number)


OTHERS = {"a": "b", "b": "", "": "a", "2024-01-01": "2024-02-29", "2024-02-29": "2024-01-01"}  # of the texts of random cases
ONE_OF = 3  # the constants of a text that move with the first, the second and the third batch


def literals(tree: exp.Expr) -> list[exp.Literal]:
    """The constants of a text that have another value, in their order."""
    return [each for each in tree.find_all(exp.Literal) if (each.name in OTHERS if each.is_string else each.is_int)]


def with_other_constants(sql: str, moves: Callable[[int], bool]) -> str:
    """The text with other values of the constants with these numbers."""
    tree = sqlglot.parse_one(sql, read="spark")
    for number, each in enumerate(literals(tree)):
        if moves(number):
            value = OTHERS[each.name] if each.is_string else str((int(each.name) + 1) % 4)
            each.replace(exp.Literal.string(value) if each.is_string else exp.Literal.number(value))
    return tree.sql("spark")


def check_others(case: Case, options: Options, found: Counter[str]) -> None:
    """Move every constant of the text alone or with others, wherever it is. Some are no input, and some make no view."""
    start = sqlglot.parse_one(case.sql, read="spark").sql("spark")
    with World(case.tables, start, options) as world:
        world.load(case.start)
        compare(world)
        for number, batch in enumerate((*case.batches, {})):
            for part in (number % ONE_OF, None):
                sql = with_other_constants(world.sql, lambda each, part=part: part is None or each % ONE_OF == part)
                try:
                    step = edited(world, sql) if sql != world.sql else None
                except (IdivmError, *FAILS):
                    found["no view"] += 1
                    return
                found["moved" if step is not None else "rebuilt"] += 1
                if step is not None:
                    compare(world)
            world.refresh(batch)
            compare(world)


@pytest.mark.parametrize(("name", "way"), some(product(DIRECTED, WAYS), 240, of_deep=30))
def test_constants_of_directed_cases_move(name: str, way: str) -> None:
    check_others(DIRECTED[name], WAYS[way], Counter())


@pytest.mark.deep
def test_constants_of_random_cases_move() -> None:
    found: Counter[str] = Counter()

    @settings(derandomize=True)
    @given(case=cases(), way=st.sampled_from(sorted(WAYS)))
    def drawn(case: Case, way: str) -> None:
        try:
            check_others(case, WAYS[way], found)
        except IdivmError as error:
            if not error.is_refusal:
                raise

    drawn()
    assert found["moved"], found


GUARDED = {
    "a text beside a number": _of("SELECT k, s FROM t0 WHERE k > '{}'", "2", "10", "1"),
    "a limit": _of("SELECT k, x FROM t0 ORDER BY k LIMIT {}", "2", "4", "1"),
    "an offset": _of(
        "SELECT k, lag(k, {}) OVER (PARTITION BY x ORDER BY k) AS v FROM t0 WHERE k > {}", ("1", "0"), ("2", "1"), ("1", "2")
    ),
    "a group": _of("SELECT x, k, count(*) AS n FROM t0 WHERE x > {} GROUP BY x, k", "0", "1"),
}


def _any_type(patch: Patch) -> None:
    patch.setattr(moving, "_is_plain", lambda kind, beside, tested: True)


def _any_parameters(patch: Patch) -> None:
    patch.setattr(moving.Merging, "_has_same_fields", lambda self, old, new: True)


def _without_proof(patch: Patch) -> None:
    patch.setattr(moved_module, "_has_rows_of", lambda plan, other, table: True)


def _any_parameters_without_proof(patch: Patch) -> None:
    _any_parameters(patch)
    _without_proof(patch)


GUARDS = (
    ("types beside a constant", _any_type, "a text beside a number", "optimised"),
    ("parameters or a proof of the rows", _any_parameters_without_proof, "an offset", "optimised"),
)
# Each of the two is enough for all cases that are known.
CONSERVATIVE = (
    ("parameters", _any_parameters, "an offset", "optimised"),
    ("a proof of the rows", _without_proof, "an offset", "optimised"),
)


def is_wrong(moves: Moves, options: Options) -> bool:
    try:
        check(moves, options, rebuilds=True)
    except (AssertionError, duckdb.Error):
        return True
    return False


@pytest.mark.parametrize(("guard", "switch_off", "name", "way"), GUARDS, ids=[each[0] for each in GUARDS])
def test_guard_is_needed(guard: str, switch_off: Callable[[Patch], None], name: str, way: str, monkeypatch: Patch) -> None:
    check(GUARDED[name], WAYS[way], rebuilds=True)
    switch_off(monkeypatch)
    assert is_wrong(GUARDED[name], WAYS[way]), f"nothing notices that this guard is off: {guard}"


@pytest.mark.parametrize(("guard", "switch_off", "name", "way"), CONSERVATIVE, ids=[each[0] for each in CONSERVATIVE])
def test_guard_is_stricter_than_needed(
    guard: str, switch_off: Callable[[Patch], None], name: str, way: str, monkeypatch: Patch
) -> None:
    switch_off(monkeypatch)
    assert not is_wrong(GUARDED[name], WAYS[way])


@pytest.mark.parametrize("name", GUARDED)
def test_constants_that_are_no_input(name: str) -> None:
    check(GUARDED[name], WAYS["optimised"], rebuilds=True)

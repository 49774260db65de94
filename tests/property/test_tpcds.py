"""TPC-DS's questions in our own words, over a small TPC-DS: after each batch each view is what the query gives.

Views are maintained as they are asked for, with ORDER BY and LIMIT 100, and as models of all rows. The results have less than 100
rows, so that this LIMIT leaves out none, and the oracle is the user's own text. A smaller LIMIT leaves out some.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise

import pytest

from benchmarks.tpcds.questions import QUESTIONS
from benchmarks.tpcds.rows import batches, loaded
from benchmarks.tpcds.schema import TABLES
from dbt_idivm.script.diff import Row
from tests.property.coverage import Coverage
from tests.property.duck import OnDuckDB
from tests.property.harness import World
from tests.property.judge import judge
from tests.property.plans import Options, Table
from tests.property.strategies import Case, Content
from tests.property.test_equivalence import check
from tests.property.tied import COMPLETED

STATES: tuple[Content, ...] = (loaded(), *batches())
LARGE = {"q11", "q59"}  # results of 100 rows and more
OFTEN_EMPTY = {"q64"}  # it asks for goods that one shop sold in both years, with sixteen conditions on who bought them
UNCHANGED = {"q82"}  # it asks for the names of a few goods
REFUSED = {"q4"}  # without LIMIT: IDIVM-232
FEW = 3
AS_ASKED = Options(every_way=True)  # the first way that is not too long for what has changed
FOUND = Coverage("TPC-DS", engine="Spark's meaning")
# DuckDB's averages and quotients of decimals, and its deviations, are DOUBLEs: added to, they are others than computed at once.
NOT_ON_DUCKDB = {"q7", "q13", "q17", "q18", "q26", "q66"}
# Each is of another shape, and quick.
ALL_ROWS_IN_SHORT = {"q3", "q22", "q38", "q97"}
ON_SPARK_IN_SHORT = {"q1", "q19"}


def case(sql: str) -> Case:
    """A view over the tables that the query reads, and the batches of these."""
    tables = tuple(Table(*each) for each in TABLES if re.search(rf"\b{each.name}\b", sql))
    names = {table.name for table in tables}
    start, *changes = ({name: rows for name, rows in state.items() if name in names} for state in STATES)
    return Case(tables, sql, start, tuple(each for each in changes if each))


def in_short(names: Iterable[str], short: Collection[str] = (), *, of_deep: int = 1) -> list[object]:
    """The questions; `make test` has those of `short`, `make deep` one in `of_deep` of the others."""
    marks = (pytest.mark.deep, *(pytest.mark.long,) * (of_deep - 1))
    return [pytest.param(name, marks=() if name in short else marks[number % of_deep]) for number, name in enumerate(names)]


@pytest.fixture(autouse=True)
def determined() -> Iterator[None]:
    """The user's texts are their own oracle: LIMIT 100 leaves out no row, whatever is tied."""
    texts = {each.sql: each.sql for name, each in QUESTIONS.items() if name not in LARGE}
    COMPLETED.update(texts)
    yield
    for sql in texts:
        del COMPLETED[sql]


@pytest.fixture(scope="module")
def results() -> Mapping[str, list[list[Row]]]:
    """Question → all rows that it has in each state."""
    engine, columns = OnDuckDB(), {table.name: table.columns for table in TABLES}
    found: dict[str, list[list[Row]]] = {name: [] for name in QUESTIONS}
    for name in columns:
        engine.create(name, columns[name])
    for state in STATES:
        for name, rows in state.items():
            engine.fill(name, columns[name], rows)
        for name, question in QUESTIONS.items():
            found[name].append(engine.oracle(question.of_all))
    engine.close()
    return found


def test_the_results_have_rows_and_change(results: Mapping[str, list[list[Row]]]) -> None:
    assert {name for name, states in results.items() if max(map(len, states)) >= 100} == LARGE
    changes: Counter[str] = Counter()
    for name, states in results.items():
        assert (states[0] and states[-1]) or name in OFTEN_EMPTY, name
        changes[name] = sum(Counter(before) != Counter(after) for before, after in pairwise(states))
    assert {name for name in QUESTIONS if not changes[name]} == UNCHANGED
    assert sum(number >= 2 for number in changes.values()) > 60


@pytest.mark.parametrize("name", in_short([each for each in QUESTIONS if each not in REFUSED | NOT_ON_DUCKDB], ALL_ROWS_IN_SHORT))
def test_all_rows(name: str) -> None:
    check(case(QUESTIONS[name].of_all), AS_ASKED)


@pytest.mark.parametrize("name", in_short(QUESTIONS, ON_SPARK_IN_SHORT, of_deep=3))
def test_as_spark_means_it(name: str) -> None:
    judge(case(QUESTIONS[name].sql), AS_ASKED, FOUND)


@pytest.mark.long
@pytest.mark.parametrize("name", [each for each in QUESTIONS if each not in REFUSED])
def test_all_rows_as_spark_means_them(name: str) -> None:
    judge(case(QUESTIONS[name].of_all), AS_ASKED, FOUND)


@pytest.mark.parametrize("name", in_short([each for each in QUESTIONS if each not in NOT_ON_DUCKDB], of_deep=3))
def test_the_first_rows(name: str) -> None:
    """Of tied rows the view has those that the completed order has first; they are rows of the whole result, and as many as asked for."""
    found = case(QUESTIONS[name].of_first(FEW))
    with World(found.tables, found.sql, AS_ASKED) as world:
        world.load(found.start)
        for batch in ({}, *found.batches):
            world.refresh(batch)
            assert world.maintained() == world.recomputed()
            every = Counter(world.engine.oracle(QUESTIONS[name].of_all))
            assert world.maintained() <= every and world.maintained().total() == min(FEW, every.total())

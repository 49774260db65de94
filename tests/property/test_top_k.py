"""The first rows of each partition, maintained in the way `topk`: random views and batches, and what is read."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.chosen import some
from tests.property.coverage import DIRECTED_AND_MEANT, MEANT, RANDOM
from tests.property.directed import FIRST_ROWS, build, first_rows
from tests.property.drawn import drawn
from tests.property.harness import World
from tests.property.judge import judge
from tests.property.plans import Options, Table
from tests.property.profiles import more, on_spark
from tests.property.strategies import Case, Content
from tests.property.test_equivalence import ALL_WAYS, check

TABLES = (
    Table("t", (("k", "int"), ("x", "int"), ("y", "int"), ("f", "double"), ("s", "string")), ("k",)),
    Table("u", (("k", "int"), ("x", "int"), ("z", "int")), ("k",)),
)
NUMBERS = st.sampled_from((None, 0, 1, 2))
T_ROWS = st.dictionaries(
    st.integers(0, 7),
    st.tuples(NUMBERS, NUMBERS, st.sampled_from((None, "0.0", "-0.0", "1.5")), st.sampled_from((None, "a", "b"))),
    max_size=8,
)
U_ROWS = st.dictionaries(st.integers(0, 4), st.tuples(NUMBERS, NUMBERS), max_size=5)
# input of ω, and its IDs
SOURCES = st.sampled_from(
    (
        ("t AS a", "a.k"),
        ("t AS a", "a.k"),
        ("(SELECT * FROM t WHERE y > 0) AS a", "a.k"),
        ("t AS a JOIN u AS b ON a.y = b.x", "a.k, b.k"),
        ("t AS a LEFT JOIN u AS b ON a.y = b.x", "a.k, b.k"),
        ("t AS a LEFT ANTI JOIN u AS b ON b.k = a.k", "a.k"),
        ("t AS a LEFT SEMI JOIN u AS b ON b.x = a.x", "a.k"),
        ("(SELECT t.*, count(*) OVER (PARTITION BY y) AS c FROM t) AS a", "a.c, a.k"),
        ("(SELECT max(k) AS k, x, y, max(f) AS f, min(s) AS s FROM t GROUP BY x, y) AS a", "a.x, a.y"),
    )
)
ORDERS = ("a.y", "a.y DESC", "a.y DESC NULLS FIRST", "a.f", "a.f NULLS LAST", "a.s DESC", "a.y + 1", "coalesce(a.y, 1) DESC")
PARTITIONS = ("a.x", "a.x", "a.x, a.s", "a.s", "a.f", "a.x + 1")
SHOWN = ("r.x", "r.y", "r.f", "r.s", "r.n", "r.y + r.n AS m", "concat(r.s, '!') AS c", "7 / (r.x - 5) AS q")


@st.composite
def views(draw: st.DrawFn) -> str:
    source, ids = draw(SOURCES)
    partition, order = draw(st.sampled_from(PARTITIONS)), draw(st.lists(st.sampled_from(ORDERS), max_size=2))
    total = ", ".join([*order, *(f"{each} {draw(st.sampled_from(('', 'DESC', 'NULLS LAST')))}" for each in ids.split(", "))])
    count = draw(st.integers(1, 3))
    test = draw(st.sampled_from((f"r.n <= {count}", f"r.n < {count + 1}", f"{count} >= r.n", f"r.n <= {count} AND r.n > 0")))
    test += draw(st.sampled_from(("", "", "", " AND r.p IS NOT NULL", " AND r.p > 0"))) if partition == "a.x" else ""
    shown = ", ".join(["r.k", *draw(st.lists(st.sampled_from(SHOWN), unique=True, max_size=3))])
    return (
        f"SELECT {shown} FROM (SELECT a.*, {partition.partition(',')[0]} AS p, row_number() OVER (PARTITION BY {partition} "
        f"ORDER BY {total}) AS n FROM {source}) AS r WHERE {test}"
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    start, *batches = [draw(contents()) for _ in range(draw(st.integers(2, 4)))]
    whole: Content = {"t": [], "u": [], **start}
    return Case(TABLES, draw(views()), whole, tuple(batches))


@st.composite
def contents(draw: st.DrawFn) -> Content:
    found: Content = {"t": [(key, *row) for key, row in draw(T_ROWS).items()]}
    if draw(st.integers(0, 2)) == 0:
        found["u"] = [(key, *row) for key, row in draw(U_ROWS).items()]
    return found


REACHED: Counter[str] = Counter()


def counted(case: Case, options: Options) -> None:
    with drawn(case, options) as world:
        REACHED[world.plan.ways[0].name] += 1


@pytest.mark.deep
@more
@given(case=cases(), feed=st.booleans())
def test_equals_recomputed(case: Case, feed: bool) -> None:
    RANDOM.cases += 1
    counted(case, Options())
    check(case, Options(feed=feed), RANDOM)


@pytest.mark.deep
@on_spark
@given(case=cases(), feed=st.booleans())
def test_equals_what_spark_means(case: Case, feed: bool) -> None:
    judge(case, Options(feed=feed), MEANT)


@pytest.mark.deep
def test_most_views_are_maintained_so() -> None:
    assert not REACHED or REACHED["topk"] > 0.7 * REACHED.total(), REACHED


@pytest.mark.parametrize(("name", "way"), some(product(FIRST_ROWS, ("additive", "additive-feed")), 3, of_deep=1))
def test_directed_on_spark(name: str, way: str) -> None:
    judge(FIRST_ROWS[name], ALL_WAYS[way], DIRECTED_AND_MEANT)


# two rows of a partition are kept; that of y = 1 is not
START = [(1, 1, 9, 0), (2, 1, 5, 0), (3, 1, 1, 0), (4, 2, 3, 0), (5, 2, 2, 0), (6, None, 4, 0), (7, 3, 1, 0), (8, 3, 0, 0)]


@pytest.mark.parametrize(
    ("gone", "come", "is_read"),
    [
        ((), [(9, 1, 7, 0), (10, 2, 0, 0), (11, 4, 1, 0)], False),  # rows come
        ((1,), [(1, 1, 6, 0)], False),  # the first becomes the second
        ((1,), [(0, 1, 5, 0)], False),  # another row comes before the last one
        ((2,), [(2, 1, 8, 0)], False),
        ((2,), [(2, 1, 5, 7)], False),  # the last one has another value
        ((3,), [], False),  # a row that is not stored
        ((6,), [], False),  # all of a partition that is stored as a whole
        ((3, 8), [], True),  # the last one of a partition of two: that there is no third is not known
        ((1,), [], True),
        ((2,), [(2, 1, 0, 0)], True),  # the last one goes down
        ((2,), [(9, 1, 4, 0)], True),  # a row comes before the third one, which is not known
    ],
)
def test_what_is_read(gone: tuple[int, ...], come: list[tuple[int, ...]], is_read: bool) -> None:
    """Whether the table is read: without its rows the refresh is right, or it is not."""
    case = build("t0(k int, x int, y int, z int; k)", first_rows(2, ", r.z"), {"t0": START})
    after = [row for row in START if row[0] not in gone] + come
    with World(case.tables, case.sql, Options()) as world:
        world.load(case.start)
        script = world.script(world.change({"t0": after}))
        expected = world.recomputed()
        world.fill({"t0": []})
        world.apply(script)
        assert (world.maintained() == expected) is not is_read

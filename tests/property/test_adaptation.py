"""View adaptation: what the old view has stored, adapted to the new definition, is what the new definition would build."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dbt_idivm.adaptation import carried, columns_of_source, difference, narrowed, same_rows, widened
from dbt_idivm.adaptation.adapt import ADDED, NOTHING, REMOVED, RULES, Adaptation, adapt
from dbt_idivm.adaptation.aggregates import AGGREGATES
from dbt_idivm.adaptation.columns import COLUMNS
from dbt_idivm.adaptation.columns_of_source import COLUMNS_OF_SOURCE
from dbt_idivm.adaptation.derive import Held
from dbt_idivm.adaptation.look_up import LOOK_UP
from dbt_idivm.adaptation.narrowed import NARROWED
from dbt_idivm.adaptation.statement import adapted_query, delete_rows, insert_rows
from dbt_idivm.errors import IdivmError
from dbt_idivm.operators import OuterJoin
from dbt_idivm.passes.query_graph import QueryGraph
from dbt_idivm.script.binding import Binding
from dbt_idivm.script.dialect import DUCKDB
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.render import full_query
from tests.meaning.spark_meaning import SparkRefuses
from tests.property.duck import OnDuckDB, _sql
from tests.property.edits import Model, Pair, joined_pairs, pairs
from tests.property.harness import VIEW, World
from tests.property.meaning import SPARK, OnSpark, not_ansi
from tests.property.plans import Options, Table, plan_of
from tests.property.strategies import BIGINT, DECIMAL, DOUBLE, INT, STRING, Content

BINDING = Binding(dialect=DUCKDB)
# Values for which the user's own SQL fails on DuckDB.
FAILS = (duckdb.ConversionException, duckdb.OutOfRangeException)
OF_JOINS = {COLUMNS_OF_SOURCE.name}  # what pairs of joins reach
EDITS = {widened.NAME, ADDED, REMOVED, NOTHING, *(rule.name for rule in RULES)} - OF_JOINS


def check(pair: Pair, options: Options | None = None) -> Adaptation | None:
    """The adaptation of the pair, after comparing it with a build of the new model."""
    with World(pair.tables, pair.old.sql, options or Options()) as world:
        world.load(pair.content)
        new = world.typed_plan(pair.new.sql, world.options)
        found = adapt(world.plan, new, VIEW)
        if found is not None:
            compare(world, found, new)
        return found


def compare(world: World, found: Adaptation, new: Plan) -> None:
    engine = world.engine
    assert isinstance(engine, OnDuckDB)
    wanted = full_query(new, BINDING)
    query = adapted_query(found, new, BINDING)
    expected = Counter(engine.rows(wanted))
    assert Counter(engine.rows(query)) == expected
    assert engine.types(query) == engine.types(wanted)
    if found.in_place:
        deleted, inserted = delete_rows(found, DUCKDB), insert_rows(found, new, BINDING)
        for statement in (deleted, inserted):
            if statement is not None:
                engine.connection.execute(_sql(statement))
        assert world.rows_of(VIEW) == expected


def counted(pair: Pair, options: Options, found: Counter[str]) -> Adaptation | None:
    """How it is adapted, if it is; among the pairs that are found, or those of which one is no view."""
    try:
        adapted = check(pair, options)
    except (IdivmError, *FAILS):
        found["no view"] += 1
        return None
    found["pairs"] += 1
    return adapted


@pytest.mark.deep
def test_adapted_views_are_what_a_build_makes() -> None:
    """Random pairs. A rule that no pair reached proves nothing; nor does a run of pairs that are mostly no views, or rebuilt."""
    found: Counter[str] = Counter()

    @settings(max_examples=settings().max_examples * 3, derandomize=True)  # what is counted below is no matter of luck
    @given(pairs(), st.sampled_from((Options(), Options(), Options(caches="all"))))
    def drawn(pair: Pair, options: Options) -> None:
        adapted = counted(pair, options, found)
        found["adapted"] += adapted is not None
        found["in place"] += adapted is not None and adapted.in_place
        if adapted is not None and options.caches is not None:
            found["with caches"] += bool(plan_of(pair.tables, pair.new.sql, options).caches)
        found.update(adapted.edits if adapted is not None else ())

    drawn()
    assert not EDITS - {*found}, found
    assert found["no view"] < found["pairs"] / 4 and found["adapted"] > found["pairs"] / 2 and found["in place"], found
    assert found["with caches"], found


@pytest.mark.deep
def test_columns_of_tables_that_are_read_are_what_a_build_makes() -> None:
    """Random pairs of joins of which the new one may read more columns. One table of several is looked up, or some of them."""
    found: Counter[str] = Counter()

    @settings(max_examples=settings().max_examples * 3, derandomize=True)  # what is counted below is no matter of luck
    @given(joined_pairs(), st.sampled_from((Options(), Options(), Options(caches="all"))))
    def drawn(pair: Pair, options: Options) -> None:
        adapted = counted(pair, options, found)
        if adapted is not None and not OF_JOINS.isdisjoint(adapted.edits):
            found["looked up"] += 1
            found["beside outer joins"] += "LEFT JOIN" in pair.old.sql
            found["several"] += len(adapted.sources) > 1
            found.update(adapted.edits)

    drawn()
    assert not OF_JOINS - {*found}, found
    assert found["no view"] < found["pairs"] / 4 and found["looked up"] > found["pairs"] / 8, found
    assert found["beside outer joins"] and found["several"] and found[NARROWED.name], found


T = Table("t", (("k", INT), ("x", INT), ("y", INT), ("s", STRING), ("d", DOUBLE), ("m", DECIMAL)), ("k",))
U = Table("u", (("k", INT), ("x", INT), ("z", INT)), ("k",))
B = Table("b", (("x", INT), ("y", INT)), None)
N = Table("n", (("k", INT), ("x", INT), ("y", INT)), ("k",))  # with a key that is NULL
F = Table("f", (("k", DOUBLE), ("x", INT), ("y", INT)), ("k",))
P = Table("p", (("k", INT), ("l", INT), ("x", INT), ("y", INT)), ("k", "l"))  # with a key that is NULL in part
CONTENT: Content = {
    "t": [
        (1, 1, 1, "a", "0.0", "1.25"),
        (2, None, 2, "b", "-0.0", "-2.00"),
        (3, 2, None, None, "0.5", None),
        (4, 2, 3, "a", None, "0.50"),
        (5, 0, 0, "", "0.5", "0.00"),
    ],
    "u": [(1, 2, 1), (2, 2, None), (3, None, 3)],
    "b": [(1, 1), (1, 1), (2, None), (None, None), (None, None)],
}
OTHERS: Content = {
    "n": [(None, 1, 5), (1, 2, 6), (2, None, None)],
    "f": [("0.0", 1, 5), ("0.5", 2, 6), (None, 3, 7)],
    "p": [(1, None, 1, 5), (1, 1, 2, 6), (2, None, 3, None), (None, None, 4, 8)],
}
BASE = "select k, x, y, s from t where x > 0"
GROUPS = "select x, count(*) as n, sum(y) as total from t group by x"
FLOATS = "select x, count(*) as n, sum(d) as ds from t group by x"
BRANCHES = "select k, x from t where x > 1 union all select k, z from u"


def adapted(old: str, new: str) -> Adaptation | None:
    one, two = Model("", (), old), Model("", (), new)
    return check(Pair((T, U, B, N, F, P), one, two, {**CONTENT, **OTHERS}, ()))


IN = "select t.k, t.y, u.z from t join u on u.k = t.x"
OUT = "select t.k, t.y, u.z from t left join u on u.k = t.x"
TWICE = "select t.k, a.z, b.z as w from t join u a on a.k = t.x join u b on b.k = t.y"
ON_NULL = "select t.k, n.x from t join n on n.k <=> t.x"
FETCHED, NARROW_FETCHED = {COLUMNS_OF_SOURCE.name, COLUMNS.name}, {COLUMNS_OF_SOURCE.name, NARROWED.name}
LOOKED_UP = {LOOK_UP.name, COLUMNS.name}  # by a stored attribute; no ID of the table is stored
# old, new, what is said, the tables that are read besides what is stored
OF_SOURCES = [
    (IN, IN.replace("u.z", "u.z, u.x"), FETCHED, ("u",)),
    (IN, IN.replace("u.z", "u.z, t.s"), FETCHED, ("t",)),
    (IN, IN.replace("u.z", "coalesce(u.x, u.z) + t.y as v"), FETCHED, ("u",)),
    (IN, IN.replace("u.z", "u.x as other, u.z as one").replace("t join u on", "u join t on"), FETCHED, ("u",)),
    (IN, f"{IN} where u.x = 2", NARROW_FETCHED, ("u",)),
    (IN, f"{IN} where u.x = t.y", NARROW_FETCHED, ("u",)),
    (IN, f"{IN} where t.s is null or t.y > 1", NARROW_FETCHED, ("t",)),
    (f"{IN} where u.x > 0", f"{IN} where u.x > 1", NARROW_FETCHED, ("u",)),
    (f"{IN} where u.x <> 0", f"{IN} where u.x <> 0 and 1 / u.x > 0", NARROW_FETCHED, ("u",)),
    (
        IN,
        IN.replace("u.z from", "u.z, n.y as ny from") + " left join n on n.k = u.x",
        {COLUMNS_OF_SOURCE.name, LOOK_UP.name, COLUMNS.name},
        ("u", "n"),
    ),
    (IN, f"{IN} where exists (select 1 from b where b.x = u.x)", {COLUMNS_OF_SOURCE.name, LOOK_UP.name}, ("u", "b")),
    (TWICE, TWICE.replace("as w", "as w, b.x as bx"), FETCHED, ("u",)),
    (TWICE, TWICE.replace("as w", "as w, a.x as ax, b.x as bx"), FETCHED, ("u",)),
    (TWICE, f"{TWICE} where a.x = 2 and t.s is null", NARROW_FETCHED, ("u", "t")),
    ("select a.k, b.y from t a join t b on b.k = a.x", "select a.k, b.y, b.s from t a join t b on b.k = a.x", FETCHED, ("t",)),
    (
        "select t.k, q.v from t join (select k, z as v from u where z > 0) q on q.k = t.x",
        "select t.k, q.v, q.w from t join (select k, z as v, x + 1 as w from u where z > 0) q on q.k = t.x",
        FETCHED,
        ("u",),
    ),
    (ON_NULL, ON_NULL.replace("n.x", "n.x, n.y"), FETCHED, ("n",)),
    (ON_NULL, f"{ON_NULL} where n.y > 4", NARROW_FETCHED, ("n",)),
    ("select t.k, p.x from t join p on p.k = t.x", "select t.k, p.x, p.y from t join p on p.k = t.x", FETCHED, ("p",)),
    ("select b.y, u.z from b join u on u.k = b.x", "select b.y, u.z, u.x from b join u on u.k = b.x", FETCHED, ("u",)),
    (OUT, OUT.replace("u.z", "u.z, u.x"), LOOKED_UP, ("u",)),
    (OUT, OUT.replace("u.z", "u.z, t.s"), FETCHED, ("t",)),
    (OUT, f"{OUT} where u.x is null", {*LOOKED_UP, NARROWED.name}, ("u",)),
    (OUT, OUT.replace("u.z", "coalesce(u.x, -1) as v"), LOOKED_UP, ("u",)),
    ("select t.k, p.x from t left join p on p.k = t.x", "select t.k, p.x, p.y from t left join p on p.k = t.x", FETCHED, ("p",)),
    (
        "select t.k, n.x from t left join n on n.k = t.x",
        "select t.k, n.x, n.y from t left join n on n.k = t.x",
        LOOKED_UP,
        ("n",),
    ),
    (
        "select t.k, a.z, n.x from t left join u a on a.k = t.x left join n on n.k = a.x",
        "select t.k, a.z, n.x, n.y, t.s from t left join u a on a.k = t.x left join n on n.k = a.x",
        {*FETCHED, *LOOKED_UP},
        ("t", "n"),
    ),
    (
        "select t.k, q.x from t left join (select n.k, n.x from n join u on u.k = n.k) q on q.k = t.x",
        "select t.k, q.x, q.y from t left join (select n.k, n.x, n.y from n join u on u.k = n.k) q on q.k = t.x",
        FETCHED,
        ("n",),
    ),
    (
        "select t.k from t where exists (select 1 from b where b.x = t.x)",
        "select t.k, t.s from t where exists (select 1 from b where b.x = t.x)",
        FETCHED,
        ("t",),
    ),
    (
        f"{IN} union all select k, x, z from u where z > 1",
        f"{IN} where u.x = 2 union all select k, x, z from u where z > 1",
        NARROW_FETCHED,
        ("u",),
    ),
    (
        "select t.k, q.n from t join (select x, count(*) as n from b group by x) q on q.x = t.x",
        "select t.k, q.n, t.s from t join (select x, count(*) as n from b group by x) q on q.x = t.x",
        FETCHED,
        ("t",),
    ),
]


@pytest.mark.parametrize("number", range(len(OF_SOURCES)))
def test_a_column_of_a_table_that_is_read(number: int) -> None:
    """Bags, copies, NULLs in keys and padded rows are in these tables; rows that have what was looked up are written again."""
    old, new, edits, sources = OF_SOURCES[number]
    found = adapted(old, new)
    assert found is not None and {*found.edits} == edits, found and found.edits
    assert {*found.sources} == {*sources} and not found.in_place


@pytest.mark.deep
def test_columns_of_tables_that_are_read_on_sparks_meaning() -> None:
    """NULL-safe look-ups, and new conditions that one over the same table guards."""
    binding = Binding(dialect=SPARK)
    for old, new, *_ in OF_SOURCES:
        with World((T, U, B, N, F, P), old, Options(), OnSpark) as world:
            world.load({**CONTENT, **OTHERS})
            plan = world.typed_plan(new, world.options)
            found = adapt(world.plan, plan, VIEW)
            assert found is not None, new
            query, wanted = adapted_query(found, plan, binding), full_query(plan, binding)
            assert Counter(world.engine.rows(query)) == Counter(world.engine.rows(wanted)), new
            assert world.engine.types(query) == world.engine.types(wanted), new


# old, new, what is said, whether stored rows stay where they are
DIRECTED = [
    (BASE, "with q as (select * from t) select k, x, y, s from q as r where 0 < r.x", {NOTHING}, True),
    (BASE, "select k, x, y, s from (select t.* from t) as a where a.x > 0", {NOTHING}, True),
    (BASE, "select k, x, s from t where x > 0", {COLUMNS.name}, False),
    (BASE, "select s, k as key, x + y as both, upper(s) as u from t where x > 0", {COLUMNS.name}, False),
    (BASE, "select cast(k as bigint) as k, x, y, s from t where x > 0", {COLUMNS.name}, False),
    (
        "select k, x from t where x <> 0 and k > 1 and 1 / x > 0",
        "select k, x from t where k > 1 and x <> 0 and 1 / x > 0",
        {NOTHING},
        True,
    ),
    (BASE, f"{BASE} and (y is null or s = 'a')", {NARROWED.name}, True),
    (BASE, "select k, x, y, s from t where y < 3 and x > 0", {NARROWED.name}, True),
    (
        "select k, x, y from t where y <> 0 and 1 / y > 0 and x > 0",
        "select k, x, y from t where y <> 0 and 1 / y > 0 and x > 1",
        {NARROWED.name},
        True,
    ),
    (BASE, BASE.replace("x > 0", "x > 1"), {NARROWED.name}, True),
    (BASE, BASE.replace("x > 0", "x = 2 and y is null"), {NARROWED.name}, True),
    ("select k, x, y from t where x in (0, 1, 2)", "select k, x, y from t where x in (0, 2)", {NARROWED.name}, True),
    (
        "select k, x, y from t where x > 0 and y > 1",
        "select k, x, y from t where x > 1 and y > 0",
        {widened.NAME, NARROWED.name},
        True,
    ),
    (BASE, "select k, x, y, s from t", {widened.NAME}, True),
    (BASE, "select k, x, y, s from t where x >= 0", {widened.NAME}, True),
    (BASE, "select k, x, y, s from t where y > 0", {widened.NAME, NARROWED.name}, True),
    ("select k, y from t where x in (1)", "select k, y from t where x in (1, 2)", {widened.NAME}, True),
    (
        "select k, y from t where x = 1",
        "select k, y from t where x in (1, 2) and y is not null",
        {widened.NAME, NARROWED.name},
        True,
    ),
    (BASE, "select t.k, t.x, t.y, s, u.z from t left join u on u.k = t.x where t.x > 0", {LOOK_UP.name, COLUMNS.name}, False),
    (
        BASE,
        "select t.k, t.x, t.y, s, b.y as by from t left join b on b.x = t.x where t.x > 0",
        {LOOK_UP.name, COLUMNS.name},
        False,
    ),
    (
        BASE,
        "select t.k, t.x, u.z from t join u on u.k = t.x where t.x > 0 and u.z > 0",
        {LOOK_UP.name, NARROWED.name, COLUMNS.name},
        False,
    ),
    (BASE, f"{BASE} and exists (select 1 from b where b.x = t.x)", {LOOK_UP.name}, False),
    (BASE, f"{BASE} and not exists (select 1 from u where u.x = t.x)", {LOOK_UP.name}, False),
    (
        BASE.replace("t where", "t left join u on u.k = t.x where")
        .replace("k, x,", "t.k, t.x,")
        .replace("> 0", "> 0")
        .replace("where x", "where t.x"),
        BASE,
        {NOTHING},
        True,
    ),
    (GROUPS, "select x as g, total from (select x, sum(y) as total from t group by x) as q", {COLUMNS.name}, False),
    (GROUPS, f"{GROUPS} having count(*) > 1", {NARROWED.name, COLUMNS.name}, False),
    (GROUPS, GROUPS.replace("total", "total, max(s) as most"), {AGGREGATES.name, COLUMNS.name}, False),
    (FLOATS, f"{FLOATS} having count(*) > 1", {NARROWED.name}, True),
    (FLOATS, FLOATS.replace("n,", "n, max(s) as most,"), {AGGREGATES.name, COLUMNS.name}, False),
    (
        "select t.k, t.x, z from t join u on u.k = t.x",
        "select t.k, t.x, z from t join u on u.k = t.k",
        {widened.NAME, NARROWED.name},
        True,
    ),
    (
        "select sum(y) as a, max(k) as b from t",
        "select sum(y) as a, max(k) as b, min(x) as c from t",
        {AGGREGATES.name, COLUMNS.name},
        False,
    ),
    ("select x, y from b", "select y, x + 1 as z from b where x is not null", {NARROWED.name, COLUMNS.name}, False),
    (BRANCHES, f"{BRANCHES} union all select k, y from t where y > 1", {ADDED}, True),
    (BRANCHES, "select k, x from t where x > 1", {REMOVED, COLUMNS.name}, False),
    (BRANCHES, "select k, z from u union all select k, x from t where x > 1 and k > 3", {NARROWED.name, COLUMNS.name}, False),
    (BRANCHES, BRANCHES.replace("x > 1", "x > 1 and k > 3"), {NARROWED.name}, True),
    (BRANCHES, BRANCHES.replace("x > 1", "x > 0"), {widened.NAME}, True),
]


@pytest.mark.parametrize("number", range(len(DIRECTED)))
def test_an_edit(number: int) -> None:
    old, new, edits, in_place = DIRECTED[number]
    found = adapted(old, new)
    assert found is not None and {*found.edits} - {NOTHING} == edits - {NOTHING}, found and found.edits
    assert found.in_place is in_place
    assert found.is_nothing is (edits == {NOTHING})


# What a condition means is Spark's: the types in which it compares, and what is lost of values there.
BIG = 9007199254740993
LONG = "12345678901234567890123456789012345678"
COMPARED = Table(
    "n", (("k", INT), ("x", BIGINT), ("s", STRING), ("m", "decimal(38,0)"), ("f", "decimal(38,30)"), ("d", "date")), ("k",)
)
NUMBERS: Content = {
    "n": [
        (1, BIG - 1, "01", "2", "1.000000000000000000000000000001", "2024-01-01"),
        (2, BIG, "1.0", LONG, "1", "2024-01-02"),
        (3, 1, "1", "1", "0.999999999999999999999999999999", None),
        (4, None, None, None, None, None),
    ]
}
# conditions before and after
CONDITIONS = [
    (f"x in ({BIG}, 1e0)", f"x = {BIG} or x = 1e0"),
    ("x in ('01', '2')", "x = '01' or x = '2'"),
    ("x = '01'", "x in ('01', '2')"),
    ("d = '2024-1-1'", "d in ('2024-1-1', '2024-01-02')"),
    ("m <= 1.5", "m < 2"),
    ("m = 1.5", "m < 1.9"),
    ("m in (1, 1.5)", "m < 2"),
    (f"m = {LONG}", f"m <= {LONG[:-1]}7"),
    ("f in (1, 2)", "f = 1 or f = 2"),
    ("f <= 1", "f < 1.00000000000000000000000000000001"),
]


@pytest.mark.parametrize("ansi", [True, False])
@pytest.mark.parametrize("number", range(len(CONDITIONS)))
def test_conditions_that_compare_in_other_types(number: int, *, ansi: bool) -> None:
    before, after = CONDITIONS[number]
    old, new = (f"select k, x, s, m, f, d from n where {each}" for each in (before, after))
    with World((COMPARED,), old, Options(), OnSpark if ansi else not_ansi) as world:
        world.load(NUMBERS)
        plan = world.typed_plan(new, world.options)
        found = adapt(world.plan, plan, VIEW)
        assert found is not None
        assert Counter(world.engine.rows(adapted_query(found, plan, Binding(dialect=SPARK)))) == Counter(world.engine.oracle(new))


# Within a lambda its variable hides a column, and a source, of the same name.
PARTS = "array(named_struct('e', k, 'x', k))"
SHOWN = "select k, x as e, y from t"
# old, new
LAMBDAS = [
    (SHOWN, f"{SHOWN} where exists(array(k, y), e -> e > t.x)"),
    (SHOWN, f"{SHOWN} where exists({PARTS}, stored -> stored.e > t.x)"),
    (SHOWN, f"select k, x as e, y, exists({PARTS}, stored -> stored.e > t.x) as more from t"),
    (f"select k, x from t where exists({PARTS}, q -> q.x > t.x)", "select k, x from t as q"),
    ("select k, x from t", f"select k, x, exists({PARTS}, t -> t.x > x) as more from t"),
]


@pytest.mark.parametrize("number", range(len(LAMBDAS)))
def test_variables_of_lambdas_hide_no_column(number: int) -> None:
    old, new = LAMBDAS[number]
    binding = Binding(dialect=SPARK)
    with World((T,), old, Options(), OnSpark) as world:
        world.load({"t": CONTENT["t"]})
        plan = world.typed_plan(new, world.options)
        found = adapt(world.plan, plan, VIEW)
        assert found is not None
        expected = Counter(world.engine.rows(full_query(plan, binding)))
        assert expected == Counter(world.engine.oracle(new))
        assert Counter(world.engine.rows(adapted_query(found, plan, binding))) == expected
        deleted = delete_rows(found, SPARK)
        if deleted is not None:
            gone = exp.select("*").from_(deleted.this.copy()).where(deleted.args["where"].this.copy())
            assert world.rows_of(VIEW) - Counter(world.engine.rows(gone)) == expected


# old, new: a rebuild evaluates 1 / y for rows that are not stored
FAILING = [
    ("select k, x, y from t where x > 0", "select k, x, y from t where 1 / y > 0 and x > 1"),
    ("select k, x, y from t where x > 0 or y > 1", "select k, x, y from t where 1 / y > 0 and x > 0"),
    ("select k, x, y from t where x > 0 and 1 / y > 0", "select k, x, y from t where 1 / y > 0 and x > 1"),
]


@pytest.mark.parametrize("number", range(len(FAILING)))
def test_what_fails_for_a_row_that_is_not_stored(number: int) -> None:
    """A condition that follows from a new one guards what may fail only if the new one does."""
    old, new = FAILING[number]
    with World((T,), old, Options(), OnSpark) as world:
        world.load({"t": CONTENT["t"]})
        plan = world.typed_plan(new, world.options)
        found = adapt(world.plan, plan, VIEW)
        queries = [full_query(plan, Binding(dialect=SPARK))]
        if found is not None:
            queries.append(adapted_query(found, plan, Binding(dialect=SPARK)))
        for query in queries:
            with pytest.raises(SparkRefuses, match="DIVIDE_BY_ZERO"):
                world.engine.rows(query)


# Each would give other rows, values or types, or fail where a rebuild does not, without a guard.
REBUILT = {
    "a column that is not stored": ("select k, x * 2 as v from t", "select k, x as v from t"),
    "a condition over what is not stored": ("select k from t", "select k from t where x > 1"),
    "one that may fail stands first": ("select k, x from t where x <> 0", "select k, x from t where 1 / x > 0 and x <> 0"),
    "a guard behind what it guards": (
        "select k, x from t where x <> 0 and 1 / x > 0",
        "select k, x from t where 1 / x > 0 and x <> 0",
    ),
    "a guard below groups": (
        "select x, count(*) as n from t where x <> 0 and 1 / x > 0 group by x",
        "select x, count(*) as n from t where 1 / x > 0 and x <> 0 group by x",
    ),
    "a guard in a join": (
        "select t.k, z from t left join u on u.k = t.x and t.x <> 0 and 1 / t.x > 0",
        "select t.k, z from t left join u on u.k = t.x and 1 / t.x > 0 and t.x <> 0",
    ),
    "a part of a DISTINCT": ("select x, y from t", "select distinct x, y from t"),
    "other groups": (GROUPS, GROUPS.replace("group by x", "group by x, y").replace("select x,", "select x, y,")),
    "a condition below groups": (GROUPS, GROUPS.replace("from t", "from t where k > 2")),
    "a condition below a window": (
        "select k, count(*) over (partition by x) as n from t",
        "select k, count(*) over (partition by x) as n from t where k > 2",
    ),
    "an aggregate of stored floats": ("select x, y, sum(d) as s from t group by x, y", "select x, sum(d) as s from t group by x"),
    "a value below a padded side": (
        "select t.k, q.v from t left join (select k, x as v from u) as q on q.k = t.x + 0",
        "select t.k, q.v from t left join (select k, coalesce(x, 0) as v from u) as q on q.k = t.x + 0",
    ),
    "a join that is no equality": ("select k, x from t", "select t.k, t.x, b.y from t join b on b.x > t.x"),
    "another table": ("select k, x from t", "select k, x from u"),
    "an outer join that becomes full": (
        "select t.k, z from t left join u on u.k = t.x",
        "select t.k, z from t full join u on u.k = t.x",
    ),
    "an unread join that repeats rows": ("select t.k, t.x from t left join b on b.x = t.x", "select k, x from t"),
    "a column of a bag": ("select t.k from t join b on b.x = t.x", "select t.k, b.y from t join b on b.x = t.x"),
    "columns of all tables": (IN, IN.replace("u.z", "u.z, u.x, t.s")),
    "a column, and rows that come": (f"{IN} where u.z > 0", f"{IN} where u.x is not null"),
    "a column of the only table": ("select k, x from t", "select k, x, y from t"),
    "a key that is NULL beside padded rows": (
        "select t.k, n.x from t left join n on n.k <=> t.x + 0",
        "select t.k, n.x, n.y from t left join n on n.k <=> t.x + 0",
    ),
    "a padded table by another condition": (
        "select t.k, n.x from t left join n on n.x > t.x",
        "select t.k, n.x, n.y from t left join n on n.x > t.x",
    ),
    "a key of floats": ("select t.k, f.x from t join f on f.k = t.d", "select t.k, f.x, f.y from t join f on f.k = t.d"),
    "a column below a full join": (
        "select t.k, u.k as l from t full join u on u.k = t.x",
        "select t.k, u.k as l, t.s from t full join u on u.k = t.x",
    ),
    "a column below groups": (
        "select t.x, count(*) as n from t join u on u.k = t.x group by t.x",
        "select t.x, count(*) as n, u.z from t join u on u.k = t.x group by t.x, u.z",
    ),
    "a column below DISTINCT": (
        "select distinct t.x, u.z from t join u on u.k = t.x",
        "select distinct t.x, u.z, u.x as o from t join u on u.k = t.x",
    ),
    "a column below a window": (
        "select t.k, u.z, row_number() over (order by t.k) as n from t join u on u.k = t.x",
        "select t.k, u.z, u.x, row_number() over (order by t.k) as n from t join u on u.k = t.x",
    ),
    "a negated test": (
        "select k, x from t where exists (select 1 from u where u.x = t.x)",
        "select k, x from t where not exists (select 1 from u where u.x = t.x)",
    ),
}


@pytest.mark.parametrize("guard", REBUILT)
def test_what_is_rebuilt(guard: str) -> None:
    assert adapted(*REBUILT[guard]) is None


IN_GROUPS = "select q.x, n, z from (select x, count(*) as n from t group by x) as q join u on u.k = q.x"
# old, new, whether it is adapted: where both read a cache, or the old one alone
WITH_CACHES = [
    (IN_GROUPS, f"{IN_GROUPS} where n > 1", True),
    (f"{IN_GROUPS} where n > 1", IN_GROUPS, True),
    (IN_GROUPS, IN_GROUPS.replace("z from", "n * 2 as twice from"), True),
    (IN_GROUPS, f"{IN_GROUPS} left join b on b.x = q.x", True),
    (f"{IN_GROUPS} where n > 1", f"{IN_GROUPS} where n > 0 and z is not null", True),
    (IN_GROUPS, IN_GROUPS.replace("n from", "n, max(s) as m from").replace("z from", "z, m from"), False),
    ("select x, s from t", IN_GROUPS, False),
    (IN_GROUPS, IN_GROUPS.replace("z from", "z, u.x as ux from"), True),
    (IN_GROUPS, f"{IN_GROUPS} where u.x = 2", True),
    (f"{IN_GROUPS.replace('n, z', 'z')} where n > 0", f"{IN_GROUPS} where n > 0", False),  # a column of the cache
]


@pytest.mark.parametrize("number", range(len(WITH_CACHES)))
def test_views_with_caches(number: int) -> None:
    old, new, is_adapted = WITH_CACHES[number]
    found = check(Pair((T, U, B), Model("", (), old), Model("", (), new), CONTENT, ()), Options(caches="all"))
    assert (found is not None) is is_adapted


def test_caches_that_are_given_up() -> None:
    """The old view read caches, the new one reads what they are made of; the other way round they would have to be built."""
    tables, content = (T, U, B), CONTENT
    for before, after, is_adapted in (("all", "none", True), ("none", "all", False)):
        with World(tables, IN_GROUPS, Options(caches=before)) as world:
            world.load(content)
            new = world.typed_plan(f"{IN_GROUPS} where n > 1", Options(caches=after))
            assert bool(world.plan.caches) is is_adapted and bool(new.caches) is not is_adapted
            found = adapt(world.plan, new, VIEW)
            assert (found is not None) is is_adapted
            if found is not None:
                compare(world, found, new)


TOTALS = "select x, count(*) as n from t group by x"


@pytest.mark.parametrize(
    "before",
    [
        f"select q.x, q.n, p.x as px, p.n as pn from ({TOTALS}) q join ({TOTALS}) p on p.n = q.x",
        f"select q.x, q.n, o.c from ({TOTALS}) q cross join (select count(*) as c from u) o",
        f"select t.k, t.x, q.x as qx, q.n from t join ({TOTALS}) q on q.x = t.k",
    ],
)
def test_caches_that_are_given_up_with_equal_names(before: str) -> None:
    """Plans of caches call what they compute alike, and occurrences as tables are called: neither is taken for the other."""
    with World((T, U, B), before, Options(caches="all")) as world:
        world.load(CONTENT)
        assert world.plan.caches
        new = world.typed_plan(f"{before} where q.n > 0" if " where " not in before else before, Options(caches="none"))
        found = adapt(world.plan, new, VIEW)
        if found is not None:
            compare(world, found, new)


def test_a_constant_keeps_its_type_as_a_part() -> None:
    """3 beside a DECIMAL has one digit, a stored INT ten: the quotients have other types, which `compare` sees."""
    found = adapted("select k, m, 3 as n from t", "select k, m, n, m * n as q from (select k, m, 3 as n from t) as r")
    assert found is not None and found.edits == (COLUMNS.name,)


OPEN_SIDE = same_rows._passed


def any_conditions(new: QueryGraph, old: QueryGraph) -> same_rows.Known | None:
    return next((known for _, known, _ in same_rows.assignments(new.sources, old.sources)), None)


# A guard that is switched off: where it is, what it is instead, and the case that needs it.
GUARDS = [
    (columns_of_source, "_saves", lambda *given: True, "columns of all tables"),
    (columns_of_source, "has_exact_order", lambda kind: True, "a key of floats"),
    (carried, "_present", lambda node, graphs: {*node.right.columns}, "a key that is NULL beside padded rows"),
    (carried, "_present", lambda node, graphs: {*node.right.columns}, "a padded table by another condition"),
    (narrowed, "_may_fail_first", lambda part: False, "one that may fail stands first"),
    (same_rows, "_passed", lambda new, old, known, whole=False: OPEN_SIDE(new, old, known), "a value below a padded side"),
    (same_rows, "_same_graph", any_conditions, "a condition below groups"),
    (same_rows, "_same_graph", any_conditions, "a condition below a window"),
    *(
        (where, "is_guarded_as_before", lambda *of: True, case)
        for where, case in (
            (difference, "a guard behind what it guards"),
            (same_rows, "a guard below groups"),
            (same_rows, "a guard in a join"),
        )
    ),
    (OuterJoin, "combined", property(lambda node: (node.left,)), "an unread join that repeats rows"),
]


@pytest.mark.parametrize("number", range(len(GUARDS)))
def test_each_guard_is_needed(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the case is adapted, most often to other rows."""
    where, name, instead, case = GUARDS[number]
    monkeypatch.setattr(where, name, instead)
    try:
        found = adapted(*REBUILT[case])
    except (AssertionError, KeyError, duckdb.Error):
        return
    assert found is not None


KEYLESS = Table("u", U.columns, None)
BY_VALUE = "select t.k, t.x, u.z from t join u on u.k = t.x"


@pytest.mark.parametrize(
    ("kind", "old", "is_adapted"),
    [
        (INT, BY_VALUE, True),
        (BIGINT, BY_VALUE, False),  # equal to the stored value, of another type
        (INT, BY_VALUE.replace("= t.x", "> t.x"), False),
        (INT, BY_VALUE.replace("= t.x", "= t.x + 0"), False),
        (INT, BY_VALUE.replace("t.x, u", "t.y, u"), False),  # of an attribute that is not stored, either
    ],
)
def test_a_key_is_had_of_what_it_is_equal_to(kind: str, old: str, is_adapted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key itself is among the IDs of the stored rows; without that by the conditions of the join."""
    table = replace(U, columns=(("k", kind), *U.columns[1:]))
    whole = Held.whole

    def unless_key(held: Held, each: exp.Expr) -> exp.Expr | None:
        return None if each.name == "was u__k" else whole(held, each)

    monkeypatch.setattr(Held, "whole", unless_key)
    new = old.replace("u.z", "u.z, u.x as ux")
    found = check(Pair((T, table), Model("", (), old), Model("", (), new), {name: CONTENT[name] for name in ("t", "u")}, ()))
    assert (found is not None) is is_adapted


def test_a_key_that_is_declared_now() -> None:
    """It is looked up whether it holds (`refresh/apply/adapted.py`); one that is declared no more does not tell rows apart."""
    keyed, keyless = (plan_of((T, table), BY_VALUE, Options()) for table in (U, KEYLESS))
    wider = BY_VALUE.replace("u.z", "u.z, u.x as ux")
    assert adapt(keyed, plan_of((T, KEYLESS), wider, Options()), VIEW) is None
    found = adapt(keyless, plan_of((T, U), wider, Options()), VIEW)
    assert found is not None and found.sources == ("u",)


def test_what_is_padded_is_not_compared_as_stored() -> None:
    """A CHAR is compared as if it were padded, and stored as a text."""
    table = Table("c", (("k", INT), ("x", "char(5)"), ("y", "varchar(5)")), ("k",))
    old = plan_of((table,), "select k, x, y from c", Options())
    wanted = {"x = 'a'": False, "y = 'a'": True, "upper(x) = 'A'": False}
    for test, is_adapted in wanted.items():
        new = plan_of((table,), f"select k, x, y from c where {test}", Options())
        assert (adapt(old, new, VIEW) is not None) is is_adapted, test
    assert adapt(old, plan_of((table,), "select x as again, k from c", Options()), VIEW) is not None

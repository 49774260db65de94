"""The work of ways and rebuilds, and the choice among them: what is right where it matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_idivm.compiler import compile_plan
from dbt_idivm.context import Catalog
from dbt_idivm.cost.choice import REBUILD, Alternative, Choice, cheapest, crossover, rounded, shrinking
from dbt_idivm.cost.experience import Experience
from dbt_idivm.cost.measure import SAFE, UNITS, Measure, bounded, total
from dbt_idivm.cost.papers import yao
from dbt_idivm.cost.sizes import Size, of_bytes, of_rows, read, width
from dbt_idivm.cost.table import cost_table
from dbt_idivm.cost.work import Situation, TableChanges, application_of, expected, incremental, merge, rebuild
from dbt_idivm.frontend.lower import lower
from dbt_idivm.running_example import COSTS, TABLES, V
from dbt_idivm.script.plan import Plan
from dbt_idivm.script.ways import ALL_WAYS
from tests.unit.test_script_ways import JOIN, TOTALS, plan

MILLION = 1_000_000


def situation(view: Plan, rows: int, stored: Size | None = None, *, rewrites: bool = True, **changes: TableChanges) -> Situation:
    sizes = {
        "orders": of_rows(rows, ("bigint", "bigint", "decimal(10,2)")),
        "customers": of_rows(rows // 100, ("bigint", "string")),
    }
    return Situation(view, sizes, stored, expected(view, changes, hopeful=False), rewrites)


def chosen(view: Plan, now: Situation) -> str:
    found = [Alternative(REBUILD, rebuild(now), rebuild(now).seconds(SAFE))]
    for way in view.ways:
        done = application_of(way, now)
        assert done is not None
        found.append(Alternative(way.name, incremental(done, now), incremental(done, now).seconds(SAFE)))
    return cheapest(found).name


@pytest.mark.parametrize(
    ("sql", "orders", "changed", "rewrites", "name"),
    [
        (JOIN, 100, 1, True, REBUILD),  # a few rows: two commits' time
        (JOIN, 100 * MILLION, 1, False, "id"),
        (JOIN, 100 * MILLION, 10 * MILLION, True, REBUILD),
        (TOTALS, 100, 1, True, REBUILD),
        (TOTALS, 50 * MILLION, 1, True, "additive"),
        (TOTALS, 50 * MILLION, 1000, True, "additive"),
        (TOTALS, 50 * MILLION, 50 * MILLION, True, REBUILD),
    ],
)
def test_rebuild_or_not(sql: str, orders: int, changed: int, rewrites: bool, name: str) -> None:
    view = plan(sql)
    table = "customers" if sql == JOIN else "orders"
    now = situation(view, orders, rewrites=rewrites, **{table: TableChanges(updated=changed)})
    assert chosen(view, now) == name


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (TableChanges(inserted=1000), "additive"),
        (TableChanges(updated=100), "additive"),
        (TableChanges(deleted=100), "additive"),
        (TableChanges(updated=50 * MILLION), REBUILD),
    ],
)
def test_extremes_are_added_where_few_are_lost(changes: TableChanges, name: str) -> None:
    view = plan("select cid, min(price) as a, sum(price) as s from orders group by cid")
    now = situation(view, 50 * MILLION, of_rows(MILLION // 10, ("bigint", "decimal(10,2)", "decimal(20,2)")), orders=changes)
    assert chosen(view, now) == name


def test_the_more_groups_may_lose_their_extreme_the_more_it_costs() -> None:
    view = plan("select cid, min(price) as a from orders group by cid", ("additive",))

    def seconds(groups: int, changes: TableChanges) -> float:
        now = situation(view, 50 * MILLION, of_rows(groups, ("bigint", "decimal(10,2)")), rewrites=False, orders=changes)
        done = application_of(view.ways[0], now)
        assert done is not None
        return incremental(done, now).seconds(SAFE)

    inserted, deleted = TableChanges(inserted=100), TableChanges(deleted=100)
    assert seconds(1000, inserted) < seconds(1000, deleted) < seconds(100_000, deleted) < seconds(10 * MILLION, deleted)


def test_more_changes_never_cost_less() -> None:
    view = plan(JOIN)
    for way in view.ways:
        found = []
        for count in (1, 10, 1000, 100_000, MILLION):
            now = situation(view, MILLION, customers=TableChanges(count, count, count), orders=TableChanges(updated=count))
            done = application_of(way, now)
            assert done is not None
            found.append(incremental(done, now).seconds(SAFE))
        assert found == sorted(found), way.name


def test_a_merge_writes_the_files_that_yao_says() -> None:
    stored = Size(MILLION, 100 * MILLION, 40)
    now = situation(plan(JOIN), MILLION, stored)
    none, few, all_of_it = (merge(now, touched, 0).bytes_written for touched in (0, 10, MILLION))
    whole = MILLION * now.view_width
    assert none == 0 and all_of_it == pytest.approx(whole)
    assert few == pytest.approx(yao(MILLION, 40, 10) / 40 * whole)
    vectors = merge(replace(now, rewrites=False, _known={}), 10, 5)
    assert vectors.bytes_written == pytest.approx(15 * now.view_width), "rows, not files"


def test_a_rebuild_writes_the_view_and_reads_used_columns() -> None:
    stored = Size(500, 12_345)
    work = rebuild(situation(plan(TOTALS), 1000, stored))
    assert (work.overwrites, work.merges) == (1, 0)
    assert work.bytes_written == 500 * width(("bigint", "decimal(20,2)", "bigint")), "however well it compresses"
    assert 0 < work.bytes_read < of_rows(1000, ("bigint", "bigint", "decimal(10,2)")).bytes, "the id is not read"


def test_plan_nodes_count_at_each_mention() -> None:
    """TPC-H on a few rows: a MERGE of seven hundred nodes costs more than its rows."""
    view = plan(JOIN)
    now = situation(view, 1000, orders=TableChanges(1, 1, 1), customers=TableChanges(1, 1, 1))
    one = situation(view, 1000, customers=TableChanges(updated=1))
    ways = {way.name: way for way in view.ways}
    every, update = (application_of(ways["id"], each) for each in (now, one))
    assert every is not None and update is not None
    assert incremental(every, now).nodes > 2 * incremental(update, one).nodes


def test_measures_add_up() -> None:
    one, two = Measure(queries=1, tuples=5), Measure(merges=2, tuples=7)
    assert one + two == total((one, two)) == Measure(queries=1, merges=2, tuples=12)
    assert (one + two).seconds(SAFE) == pytest.approx(one.seconds(SAFE) + two.seconds(SAFE))
    assert sum((one + two).shares(SAFE).values()) == pytest.approx(1)
    assert set(Measure().shares(SAFE).values()) == {0.0}


def test_prices_are_bounded() -> None:
    assert bounded(SAFE.json()) == SAFE
    assert bounded({**SAFE.json(), "merges": 1e6}) == replace(SAFE, merges=SAFE.merges * 30)
    nonsense = (0, -1, float("nan"), float("inf"), 10**400, "1", None, True, [])
    assert [bounded({**SAFE.json(), "nodes": each}) for each in nonsense] == [None] * len(nonsense)
    assert [bounded({unit: 1 for unit in UNITS if unit != left}) for left in UNITS] == [None] * len(UNITS)


def test_sizes() -> None:
    assert width(("int", "bigint")) == 6 and width(()) == 1
    assert of_rows(100, ("bigint",)) == Size(100, 400, 1) and of_bytes(400, 0, ("bigint",)) == Size(100, 400, 1)
    assert Size(10, 1000, 3).with_rows(5) == Size(5, 500, 3) and Size(0, 0).with_rows(5) == Size(5, 5)
    assert Size(10, 1 << 30, 1).times(10) == Size(100, 10 << 30, 80)
    good = {"rows": 1, "bytes": 2, "files": 3}
    assert read(good) == Size(1, 2, 3)
    for each in (-1, 1.5, "1", None, True, 1 << 62, 10**400):
        assert read({**good, "rows": each}) is None
    assert read(None) is read([1, 2, 3]) is read({"rows": 1}) is None


def test_where_another_choice_begins() -> None:
    assert crossover(lambda factor: 1 + factor, lambda factor: 2.0 + factor / 100) == pytest.approx(100 / 99, rel=1e-3)
    assert crossover(lambda factor: 1.0, lambda factor: 2.0) is None
    assert shrinking(2.0, lambda part: 1 + 9 * part) == pytest.approx(1 / 9, rel=1e-3)
    assert shrinking(1.0, lambda part: 2.0) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3, "3"),
        (42, "40"),
        (999, "1 thousand"),
        (1234, "1 thousand"),
        (12_345, "10 thousand"),
        (345_678, "300 thousand"),
        (3_141_592, "3 million"),
        (2.5e9, "2 billion"),
    ],
)
def test_numbers_for_people(number: float, text: str) -> None:
    assert rounded(number) == text


def test_a_choice_adds_up() -> None:
    way, full = Alternative("id", Measure(), 2.0), Alternative(REBUILD, Measure(), 1.0)
    early, late = Choice(full, (way, full), 0.5), Choice(full, (way, full), 0.5, is_read=True)
    assert (early.estimate, late.estimate) == (1.0, 1.5)
    assert Choice(way, (way, full), 0.5, is_read=True).estimate == 2.5
    assert late.estimates == {"id": 2.5, REBUILD: 1.0} and late.best_way is way
    assert Choice(full, (full,)).best_way is None


def test_the_table_of_explain() -> None:
    text = cost_table(plan(JOIN), {"orders": 5 * MILLION, "customers": 100_000}, Experience())
    lines = text.splitlines()
    assert lines[0] == "cost, in seconds on a small machine; the view has about 5,000,000 rows"
    assert lines[1].split() == ["updated", "p", "(1)", "rebuild", "id", "recompute", "tuple", "whole", "cheapest"]
    update = next(line for line in lines if line.strip().startswith("customers: 1 "))
    assert update.split()[2:4] == ["50.0", "3.0"], "p = 50 orders for each customer; (a + 2p) / (1 + p) with a = 1 + p"
    with pytest.raises(ValueError, match="customers has no number of rows: add --rows customers=…"):
        cost_table(plan(JOIN), {"orders": 1}, Experience())


COMMAS = "select o.id, o.price, c.name from orders o, customers c, clicks k where o.cid = c.id and k.at = c.id"
JOINS = "select o.id, o.price, c.name from orders o join customers c on o.cid = c.id join clicks k on k.at = c.id"


def test_the_order_of_the_text_does_not_matter() -> None:
    """A condition over products costs what the joins cost that it means, in every state and for every way."""
    found = []
    for sql in (COMMAS, JOINS):
        view = plan(sql)
        sizes = {name: Size(rows, rows * 10) for name, rows in (("orders", 10_000), ("customers", 100), ("clicks", 5_000))}
        counts = {name: TableChanges(2, 1, 3) for name in sizes}
        now = Situation(view, sizes, None, expected(view, counts, hopeful=False))
        done = {way.name: application_of(way, now) for way in view.ways}
        work = [rebuild(now), *(incremental(each, now) for each in done.values() if each is not None)]
        assert all(each.tuples < 20_000_000 for each in work), "no product of 50 million rows"
        found.append((now.stored.rows, [each.seconds(SAFE) for each in work]))
    (rows, seconds), (others, other_seconds) = found
    assert rows == pytest.approx(others, rel=0.01) and len(seconds) == 5
    assert seconds == pytest.approx(other_seconds, rel=0.3)


def test_conditions_go_below_unions_and_projections() -> None:
    """The signed rows of a join are a union of products; each of them is joined as the condition says."""
    view = plan(COMMAS, ("tuple",))
    sizes = {name: Size(MILLION, 10 * MILLION) for name in ("orders", "customers", "clicks")}
    now = Situation(view, sizes, None, expected(view, {"customers": TableChanges(updated=1)}, hopeful=False))
    done = application_of(view.ways[0], now)
    assert done is not None
    rows, work = now.evaluated(done.relations[0])
    assert rows.rows < 100 and work.tuples < 50 * MILLION


@pytest.mark.parametrize(
    ("sql", "links", "way", "rewrites", "measured"),
    [
        (V, 5, REBUILD, True, (2.0, 3.0)),
        (V, 20, REBUILD, True, (7.3, 8.8)),
        (V, 50, REBUILD, True, (20.0, 39.0)),
        (V, 5, "id", True, (1.3, 3.0)),
        (V, 20, "id", True, (7.0, 9.2)),
        (V, 50, "id", True, (7.1, 14.2)),
        (V, 20, "id", False, (4.3, 4.6)),
        (V, 50, "id", False, (4.0, 4.5)),
        (COSTS, 20, REBUILD, True, (6.8, 10.3)),
        (COSTS, 20, "additive", True, (7.5, 13.4)),
        (COSTS, 20, "additive", False, (6.4, 7.8)),
        (COSTS, 50, "additive", True, (8.4, 12.6)),
        (COSTS, 50, "additive", False, (7.9, 10.5)),
    ],
)
def test_estimates_against_measurements(sql: str, links: int, way: str, rewrites: bool, measured: tuple[float, float]) -> None:
    """Devices and parts, 200 parts updated, on two cores, without experience: within a factor of 1.7."""
    lowered = lower(sql, Catalog({table.name: table for table in TABLES}))
    view = compile_plan(lowered.root, lowered.output, ways=ALL_WAYS)
    rows = {"devices": links * 100_000, "parts": links * 100_000, "devices_parts": links * MILLION}
    sizes = {table.name: of_rows(rows[table.name], (each.type for each in table.columns)) for table in TABLES}
    stored = of_rows(links * MILLION // (5 if sql == V else 50), (view.root.types[each.attribute] for each in view.columns))
    now = Situation(view, sizes, stored, expected(view, {"parts": TableChanges(updated=200)}, hopeful=False), rewrites)
    done = None if way == REBUILD else application_of(next(each for each in view.ways if each.name == way), now)
    seconds = (rebuild(now) if done is None else incremental(done, now) + Measure(queries=1, nodes=6)).seconds(SAFE)
    low, high = measured
    assert low / 1.7 < seconds < high * 1.7, f"{seconds:.1f}"

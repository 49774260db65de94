"""The commonest warehouse: sales that are only appended, and dimensions that are corrected late.

At scale 1 there are 10M sales of three years, 100,000 customers and 1,000 products. `batch` is the number of the load that
wrote a row.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.workload import Change, Query, Step, Table, Workload

SALES, CUSTOMERS, PRODUCTS, DAYS = 10_000_000, 100_000, 1_000, 1096

ENRICHED = """
select s.id, s.day, s.amount, c.name as customer, c.region, p.name as product
from append_only.sales s
join append_only.customers c on c.id = s.customer
join append_only.products p on p.id = s.product"""

DAILY = """
select day, product, count(*) as sales, sum(amount) as amount
from append_only.sales
group by day, product"""

REGIONS = """
select c.region, p.category, count(*) as sales, sum(s.amount) as amount
from append_only.sales s
join append_only.customers c on c.id = s.customer
join append_only.products p on p.id = s.product
group by c.region, p.category"""

# Aggregates below a join, and below another aggregate: where intermediate caches may pay.
TOTALS = """
select c.id, c.name, c.region, t.sales, t.amount, t.last_day
from append_only.customers c
left join (select customer, count(*) as sales, sum(amount) as amount, max(day) as last_day
    from append_only.sales group by customer) t on t.customer = c.id"""

BEST_DAYS = """
select product, count(*) as days, max(amount) as best, sum(amount) as amount
from (select day, product, sum(amount) as amount from append_only.sales group by day, product)
group by product"""

NOT_BY_HAND = {"dbt_incremental": "an aggregate below: its old rows are stored nowhere"}

# A region's old sums cannot be found by a batch number: the old region of a customer is stored nowhere.
MOVED = {"dbt_incremental": "a customer who moves leaves a group that no column names any more: no exact MERGE can be written"}

ENRICHED_MERGE = f"""
merge into $lane.enriched v
using ({ENRICHED} where s.batch = $batch or c.batch = $batch) n on v.id = n.id
when matched then update set * when not matched then insert *"""

DAILY_MERGE = f"""
merge into $lane.daily v
using ({DAILY.replace("from append_only.sales", "from append_only.sales where batch = $batch")}) n
on v.day = n.day and v.product = n.product
when matched then update set sales = v.sales + n.sales, amount = v.amount + n.amount
when not matched then insert *"""


def workload(scale: float = 1.0) -> Workload:
    sales, customers = round(SALES * scale), max(100, round(CUSTOMERS * scale))
    return Workload(
        name="append_only",
        tables=(
            Table(
                "sales",
                _sales(
                    "id",
                    sales,
                    customers,
                    0,
                    f"range(0, {sales}, 1, {max(2, sales // 2_000_000)})",
                    f"date '2023-01-01' + cast(id * {DAYS} div {sales} as int)",
                ),
                ("id",),
            ),
            Table(
                "customers",
                f"""
                select id, concat('customer ', id) as name, concat('region ', pmod(xxhash64(id, 3), 20)) as region, 0 as batch
                from range({customers})""",
                ("id",),
            ),
            Table(
                "products",
                f"""
                select id, concat('product ', id) as name, concat('category ', id % 30) as category, 0 as batch
                from range({PRODUCTS})""",
                ("id",),
            ),
        ),
        queries=(
            Query("enriched", ENRICHED, ("id",), merge=ENRICHED_MERGE, merge_for=("appends", "late")),
            Query("daily", DAILY, ("day", "product"), merge=DAILY_MERGE, merge_for=("appends", "late")),
            Query("regions", REGIONS, ("region", "category"), without=MOVED),
            Query("totals", TOTALS, ("id",), without=NOT_BY_HAND),
            Query("best_days", BEST_DAYS, ("product",), without=NOT_BY_HAND),
        ),
        changes=(
            Change("appends", "sales", lambda step: appends(step, customers)),
            Change("late", "sales", lambda step: (*appends(step, customers), *late(step))),
        ),
    )


def _sales(number: str, sales: int, customers: int, batch: int, rows: str, day: str) -> str:
    return f"""
        select {number} as id, {day} as day, pmod(xxhash64({number}, 1), {customers}) as customer,
            pmod(xxhash64({number}, 2), {PRODUCTS}) as product,
            cast(pmod(xxhash64({number}, 4), 100000) / 100 as decimal(10, 2)) as amount, {batch} as batch
        from {rows}"""


def appends(step: Step, customers: int) -> Sequence[str]:
    """The sales of another day."""
    number = f"{step.number} * 1000000000000 + id"
    rows = _sales(number, step.total, customers, step.number, f"range({step.rows})", f"date '2026-01-01' + {step.number}")
    return (f"insert into append_only.sales {rows}",)


def late(step: Step) -> Sequence[str]:
    """One customer in a thousand has moved, or was entered wrongly; the sales of years change with each."""
    return (
        f"""update append_only.customers set region = concat('region ', pmod(id + {step.number}, 20)), batch = {step.number}
                where id % 1000 = {step.number}""",
    )

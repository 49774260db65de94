"""A dbt project of 24 models in layers, run by dbt itself: nothing changed, one input changed, all inputs changed.

The same graph is run with all models as `table` (lane `full`) and as `idivm` (lane `auto`), over the same sources. Here dbt's own
time is part of the seconds. The models are those of a shop: staging, intermediate, marts, reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bags import fingerprints
from benchmarks.dbt_runs import invoke, profile
from benchmarks.engine import Engine, Session
from benchmarks.experiment import Experiment, Inexact
from benchmarks.lanes import Sample
from benchmarks.meter import Meter, Work
from benchmarks.results import BUILD, Record, summary

NAME = "dbt_graph"
SOURCES_IN = "shop"
ORDERS = 1_000_000  # at scale 1
LANES = {"full": "table", "auto": "idivm"}

# name → (rows at scale 1, its SELECT over range(rows))
SOURCES: Mapping[str, tuple[int, str]] = {
    "orders": (
        ORDERS,
        "id, pmod(xxhash64(id, 1), {customers}) as customer_id, pmod(xxhash64(id, 2), 50) as store_id, "
        "date '2024-01-01' + cast(id * 365 div {orders} as int) as day, "
        "if(pmod(xxhash64(id, 3), 10) = 0, 'open', 'done') as status",
    ),
    "lines": (
        3 * ORDERS,
        "id, id div 3 as order_id, pmod(xxhash64(id, 4), {products}) as product_id, "
        "cast(1 + pmod(xxhash64(id, 5), 9) as int) as quantity, "
        "cast(pmod(xxhash64(id, 6), 10000) / 100 as decimal(10, 2)) as price",
    ),
    "payments": (
        ORDERS,
        "id, id as order_id, cast(pmod(xxhash64(id, 7), 30000) / 100 as decimal(10, 2)) as amount, "
        "if(pmod(xxhash64(id, 8), 3) = 0, 'cash', 'card') as method",
    ),
    "customers": (50_000, "id, concat('customer ', id) as name, concat('country ', pmod(xxhash64(id, 9), 30)) as country"),
    "products": (2_000, "id, concat('product ', id) as name, concat('category ', pmod(xxhash64(id, 10), 40)) as category"),
    "stores": (50, "id, concat('store ', id) as name, concat('region ', id % 5) as region"),
}

MODELS: Mapping[str, str] = {
    "stg_orders": "select id, customer_id, store_id, day, status from {{ source('shop', 'orders') }}",
    "stg_lines": "select id, order_id, product_id, quantity, quantity * price as amount from {{ source('shop', 'lines') }}",
    "stg_payments": "select id, order_id, amount, method from {{ source('shop', 'payments') }}",
    "stg_customers": "select id, name, country from {{ source('shop', 'customers') }}",
    "stg_products": "select id, name, category from {{ source('shop', 'products') }}",
    "stg_stores": "select id, name, region from {{ source('shop', 'stores') }}",
    "int_order_amounts": "select order_id, count(*) as lines, sum(amount) as amount from {{ ref('stg_lines') }} "
    "group by order_id",
    "int_order_payments": "select order_id, count(*) as payments, sum(amount) as paid from {{ ref('stg_payments') }} "
    "group by order_id",
    "int_orders": "select o.id, o.customer_id, o.store_id, o.day, o.status, a.amount, a.lines from {{ ref('stg_orders') }} o "
    "join {{ ref('int_order_amounts') }} a on a.order_id = o.id",
    "int_paid_orders": "select o.id, o.customer_id, o.amount, p.paid from {{ ref('int_orders') }} o "
    "join {{ ref('int_order_payments') }} p on p.order_id = o.id",
    "int_lines": "select l.id, l.order_id, l.quantity, l.amount, p.name as product, p.category from {{ ref('stg_lines') }} l "
    "join {{ ref('stg_products') }} p on p.id = l.product_id",
    "int_open_orders": "select id, customer_id, store_id, amount from {{ ref('int_orders') }} where status = 'open'",
    "dim_customers": "select id, name, country from {{ ref('stg_customers') }}",
    "dim_products": "select id, name, category from {{ ref('stg_products') }}",
    "dim_stores": "select id, concat(name, ', ', region) as name, region from {{ ref('stg_stores') }}",
    "fct_orders": "select o.id, o.day, o.amount, o.status, c.name as customer, c.country, s.name as store, s.region "
    "from {{ ref('int_orders') }} o join {{ ref('dim_customers') }} c on c.id = o.customer_id "
    "join {{ ref('dim_stores') }} s on s.id = o.store_id",
    "fct_lines": "select l.id, l.order_id, l.product, l.category, l.quantity, l.amount, o.day, o.store_id "
    "from {{ ref('int_lines') }} l join {{ ref('stg_orders') }} o on o.id = l.order_id",
    "fct_receivables": "select p.id, p.amount - p.paid as due, c.name as customer from {{ ref('int_paid_orders') }} p "
    "join {{ ref('dim_customers') }} c on c.id = p.customer_id where p.amount > p.paid",
    "rep_days": "select day, count(*) as orders, sum(amount) as amount from {{ ref('fct_orders') }} group by day",
    "rep_countries": "select country, count(*) as orders, sum(amount) as amount from {{ ref('fct_orders') }} group by country",
    "rep_regions": "select region, status, count(*) as orders, sum(amount) as amount from {{ ref('fct_orders') }} "
    "group by region, status",
    "rep_categories": "select category, day, sum(quantity) as quantity, sum(amount) as amount from {{ ref('fct_lines') }} "
    "group by category, day",
    "rep_customers": "select customer_id, count(*) as orders, sum(amount) as amount from {{ ref('int_orders') }} "
    "group by customer_id",
    "rep_open": "select s.region, count(*) as orders, sum(o.amount) as amount from {{ ref('int_open_orders') }} o "
    "join {{ ref('dim_stores') }} s on s.id = o.store_id group by s.region",
}

# a thousandth of the rows of one source, or of all
CHANGES: Mapping[str, Callable[[int], Sequence[str]]] = {
    "nothing": lambda number: (),
    "one_input": lambda number: _changed("customers", "country = 'country 1'", number),
    "all_inputs": lambda number: (
        *_changed("orders", "status = if(status = 'open', 'done', 'open')", number),
        *_changed("lines", "price = price + 1", number),
        *_changed("payments", "amount = amount + 1", number),
        *_changed("customers", "name = concat(name, '.')", number),
        *_changed("products", "category = 'category 1'", number),
        f"update shop.stores set name = concat(name, '.') where id = {number % 50}",
    ),
}


def _changed(table: str, assignment: str, number: int) -> Sequence[str]:
    return (f"update shop.{table} set {assignment} where id % 1000 = {number % 1000}",)


def run(experiment: Experiment, engine: Engine, say: Callable[[str], None]) -> Iterator[list[Record]]:
    """The records of each change. Raises DbtFailed, and Inexact if a model differs between the lanes."""
    session = engine.session()
    try:
        yield from _measured(experiment, engine, session, say)
    finally:
        for schema in (SOURCES_IN, *(f"{NAME}_{lane}" for lane in LANES)):
            session.run(f"drop schema if exists {schema} cascade")


def _measured(experiment: Experiment, engine: Engine, session: Session, say: Callable[[str], None]) -> Iterator[list[Record]]:
    """Load the sources, build all models in each lane, and run dbt after each change."""
    meter, number, lanes = Meter(session.spark), 0, tuple(LANES)
    _load(session, experiment.scale, say)
    project = write_project(engine.folder / NAME, engine.credentials.driver_memory)
    for change in (BUILD, *([name for name, _ in experiment.changes if name] or CHANGES)):
        found: dict[str, list[tuple[Sample, Work]]] = {lane: [] for lane in lanes}
        for turn in range(1 if change == BUILD else experiment.warmups + experiment.rounds):
            number += 1
            say(f"{NAME}: {change}, run {turn + 1}")
            session.run(*(CHANGES[change](number) if change in CHANGES else ()))
            for lane in lanes if turn % 2 else tuple(reversed(lanes)):
                meter.start()
                sample = _dbt_run(project, lane)
                if change == BUILD or turn >= experiment.warmups:
                    found[lane].append((sample, meter.stop()))
            _compare(session, lanes)
        yield [
            Record(
                workload=NAME,
                query=f"{len(MODELS)} models",
                scale=experiment.scale,
                change=change,
                lane=lane,
                exact=True,
                purpose=experiment.purpose,
                **summary(samples),
            )
            for lane, samples in found.items()
        ]


def _load(session: Session, scale: float, say: Callable[[str], None]) -> None:
    session.run(f"create schema if not exists {SOURCES_IN}")
    sizes = {name: max(50, round(rows * scale)) if name != "stores" else rows for name, (rows, _) in SOURCES.items()}
    for name, (_, columns) in SOURCES.items():
        say(f"loading {SOURCES_IN}.{name}")
        session.run(
            f"create or replace table {SOURCES_IN}.{name} using delta tblproperties "
            f"('delta.enableChangeDataFeed' = 'true') as select {columns.format(**sizes)} from range({sizes[name]})"
        )


def write_project(folder: Path, memory: str) -> Path:
    """The dbt project, with a target for each lane."""
    tests = [{"name": "id", "data_tests": ["unique", "not_null"]}]
    files: dict[str, Any] = {
        "dbt_project.yml": {
            "name": NAME,
            "version": "1.0.0",
            "config-version": 2,
            "profile": NAME,
            "flags": {"send_anonymous_usage_stats": False},
            "models": {NAME: {"+materialized": "{{ 'table' if target.name == 'full' else 'idivm' }}"}},
        },
        "profiles.yml": profile(NAME, {lane: f"{NAME}_{lane}" for lane in LANES}, folder, memory, threads=2),
        "models/sources.yml": {
            "sources": [
                {"name": SOURCES_IN, "schema": SOURCES_IN, "tables": [{"name": name, "columns": tests} for name in SOURCES]}
            ]
        },
    }
    for name, content in files.items():
        _write(folder / name, json.dumps(content))
    for name, sql in MODELS.items():
        _write(folder / "models" / f"{name}.sql", sql + "\n")
    return folder


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _dbt_run(project: Path, lane: str) -> Sample:
    """One `dbt run`, in this process and on this Spark; modes are counted."""
    done = invoke(project, lane, "run")
    modes = list(done.modes.values())
    found = ", ".join(f"{modes.count(mode)} {mode}" for mode in sorted(set(modes)))
    return Sample(done.seconds, 0.0, done.statements, found)


def _compare(session: Session, lanes: Sequence[str]) -> None:
    for name in MODELS:
        tables = {lane: f"{NAME}_{lane}.{name}" for lane in lanes}
        found = fingerprints(session, tables, session.columns(f"select * from {tables[lanes[0]]}"))
        if len(set(found.values())) > 1:
            raise Inexact(f"{NAME}.{name} differs between the lanes {' and '.join(lanes)}")

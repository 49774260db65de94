"""`idivm adopt`: what an incremental model misses. Each rule has a model about which it speaks, and others about which it is silent."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_idivm.tools.adopt import missed as rules
from dbt_idivm.tools.adopt.adopt import adoption
from dbt_idivm.tools.adopt.missed import RULES, Rule
from tests.unit.adopted_models import CUSTOMERS, READS, Node, adopted, manifest, model, source

NEWER = "{% if is_incremental() %} where updated_at > (select max(updated_at) from {{ this }}) {% endif %}"
FROM_NEWEST = NEWER.replace(">", ">=")
COALESCED = NEWER.replace("max(updated_at)", "coalesce(max(updated_at), '1900-01-01')")
OUTSIDE = (
    "{% if is_incremental() %} where updated_at > coalesce((select max(updated_at) from {{ this }}), '1900-01-01') {% endif %}"
)
LATER = "{% if is_incremental() %} where updated_at > (select max(updated_at) - interval 3 days from {{ this }}) {% endif %}"
CLOCK = "{% if is_incremental() %} where updated_at >= current_date() - interval 3 days {% endif %}"
BY_VARIABLE = "{% if is_incremental() %} where updated_at > '{{ var('from') }}' {% endif %}"
BY_MACRO = "{% if is_incremental() %} where {{ newer_than('updated_at') }} {% endif %}"
ORDERS = "select id, customer_id, updated_at, price from {{ source('raw', 'orders') }}"
MERGE = {"incremental_strategy": "merge", "unique_key": "id"}
APPEND = {"incremental_strategy": "append"}


def joined_with(filter_: str) -> str:
    """Import CTEs, as dbt's style guide has them."""
    return (
        f"with orders as (select * from {{{{ source('raw', 'orders') }}}} {filter_}),\n"
        "customers as (select * from {{ source('raw', 'customers') }}),\n"
        "final as (select o.id, c.name, o.updated_at from orders o left join customers c on o.customer_id = c.id)\n"
        "select * from final"
    )


def said(rule: Rule, text: str, **config: Any) -> str | None:
    return rule(adopted(text, **config).old)


@pytest.mark.parametrize(
    "rule, text, config, expected",
    [
        (rules.deletes, f"{ORDERS} {NEWER}", MERGE, "when a row of `raw.orders` or `raw.customers` is deleted"),
        (rules.deletes, ORDERS, {**MERGE, "incremental_strategy": "delete+insert"}, "stays in the table"),
        (rules.late, f"{ORDERS} {NEWER}", MERGE, "a row of `raw.orders` that arrives with a `updated_at` not larger than"),
        (rules.late, f"{ORDERS} {FROM_NEWEST}", MERGE, "smaller than the largest one"),
        (rules.late, f"{ORDERS} {COALESCED}", MERGE, "not larger than"),
        (rules.late, f"{ORDERS} {OUTSIDE}", MERGE, "not larger than"),
        (rules.late, f"{ORDERS} {LATER}", MERGE, "already below the filter's bound"),
        (rules.late, f"{ORDERS} {CLOCK}", MERGE, "already older than the filter allows"),
        (rules.late, joined_with(NEWER), MERGE, "a row of `raw.orders`"),
        (rules.late, f"{ORDERS} where price > {{{{ var('least') }}}} {NEWER.replace('where', 'and')}", MERGE, "not larger than"),
        (rules.joined, joined_with(NEWER), MERGE, "When a row of `raw.customers` changes"),
        (
            rules.joined,
            "select o.id, c.name from {{ source('raw', 'orders') }} o join {{ source('raw', 'customers') }} c on o.cid = c.id "
            "{% if is_incremental() %} where o.at > (select max(at) from {{ this }}) {% endif %}",
            MERGE,
            "`raw.customers`",
        ),
        (
            rules.joined,
            f"{ORDERS} {NEWER} {{% if is_incremental() %}} and {{% else %}} where {{% endif %}} customer_id in "
            "(select id from {{ source('raw', 'customers') }})",
            MERGE,
            "`raw.customers`",
        ),
        (
            rules.windows,
            f"select *, sum(price) over (partition by customer_id order by updated_at) as total from ({ORDERS} {NEWER}) o",
            MERGE,
            "SUM(price) OVER (PARTITION BY customer_id ORDER BY updated_at)",
        ),
        (
            rules.windows,
            f"select * from (select *, row_number() over (partition by customer_id order by updated_at) as n from ({ORDERS} {NEWER}) o)",
            MERGE,
            "sees the rows of one batch only",
        ),
        (
            rules.aggregates,
            f"select customer_id, sum(price) as total, max(updated_at) as updated_at from ({ORDERS} {NEWER}) o group by customer_id",
            {**MERGE, "unique_key": "customer_id"},
            "a group by `customer_id` whose rows come in several batches is replaced by what the last batch alone gives",
        ),
        (
            rules.aggregates,
            f"with o as ({ORDERS} {NEWER}) select customer_id, count(*) as n, max(updated_at) as updated_at from o group by 1",
            APPEND,
            "gets a row for each batch",
        ),
        (
            rules.aggregates,
            f"select date(updated_at) as day, sum(price) as total, max(updated_at) as updated_at from ({ORDERS} {NEWER}) o group by 1",
            {**MERGE, "unique_key": "day"},
            "a group by `CAST(updated_at AS DATE)`",
        ),
        (rules.appended, f"{ORDERS} {FROM_NEWEST}", APPEND, "the strategy `append` adds rows, and the filter takes rows again"),
        (rules.appended, ORDERS, {}, "each run selects all rows"),
        (rules.appended, f"{ORDERS} {CLOCK}", {"incremental_strategy": "merge"}, "`merge` without a `unique_key`"),
        (
            rules.overwritten,
            f"{ORDERS} {CLOCK}",
            {"incremental_strategy": "insert_overwrite", "partition_by": ["day"]},
            "a partition without rows in the batch stays as it was, whatever was changed or deleted in its inputs.",
        ),
        (
            rules.overwritten,
            f"{ORDERS} {NEWER}",
            {"incremental_strategy": "insert_overwrite", "partition_by": ["day"]},
            "loses those that the filter on `updated_at` leaves out",
        ),
        (rules.overwritten, f"{ORDERS} {NEWER}", {"incremental_strategy": "insert_overwrite"}, "replaces the whole table by its batch"),
        (
            rules.lookback,
            ORDERS,
            {"incremental_strategy": "microbatch", "batch_size": "day", "lookback": 3},
            "only the current day and the 3 before it are built again",
        ),
        (rules.lookback, ORDERS, {"incremental_strategy": "microbatch", "batch_size": "hour"}, "the current hour and the one before it"),
        (rules.frozen_columns, ORDERS, {**MERGE, "merge_update_columns": ["price", "note"]}, "all but `price`, `note` keep the value"),
        (rules.frozen_columns, ORDERS, {**MERGE, "merge_exclude_columns": "created_at"}, "`created_at` keep the value"),
    ],
)  # fmt: skip
def test_what_is_missed(rule: Rule, text: str, config: dict[str, Any], expected: str) -> None:
    found = said(rule, text, **config)
    assert found is not None and expected in found


@pytest.mark.parametrize(
    "rule, text, config",
    [
        (rules.deletes, f"{ORDERS} {NEWER}", {"incremental_strategy": "insert_overwrite", "partition_by": "day"}),
        (rules.deletes, f"{ORDERS} {NEWER}", {**MERGE, "not_matched_by_source_action": "delete"}),
        (rules.late, ORDERS, MERGE),
        (rules.late, f"{ORDERS} {BY_VARIABLE}", MERGE),
        (rules.late, f"{ORDERS} {BY_MACRO}", MERGE),
        (rules.late, f"{ORDERS} {{% if is_incremental() %}} where id not in (select id from {{{{ this }}}}) {{% endif %}}", MERGE),
        (rules.late, f"{ORDERS} {NEWER} {{% if is_incremental() %}} and {{{{ other() }}}} {{% endif %}}", MERGE),
        (rules.joined, f"{ORDERS} {NEWER}", MERGE),
        (rules.joined, joined_with(""), MERGE),
        (rules.joined, joined_with(BY_VARIABLE), MERGE),
        # a filter of each build, and one that is not read
        (rules.late, f"{ORDERS} where updated_at >= current_date() - interval 30 days", MERGE),
        (rules.late, f"{ORDERS} {NEWER.replace('where', 'where customer_id between 1 and 9 and')}", MERGE),
        (rules.late, f"{ORDERS} {NEWER.replace('where', 'where customer_id = 1 or')}", MERGE),
        (rules.joined, f"{joined_with(NEWER)} {{% if is_incremental() %}} where id in (select 1) {{% endif %}}", MERGE),
        # two branches, each with its filter
        (rules.joined, f"{ORDERS} {NEWER} union all {ORDERS.replace('orders', 'customers')} {NEWER}", MERGE),
        # a branch that is read as a whole on each run
        (rules.joined, f"{ORDERS} {NEWER} union all {ORDERS.replace('orders', 'customers')}", MERGE),
        # whose column it is, is not clear
        (
            rules.joined,
            "select o.id, c.name from {{ source('raw', 'orders') }} o join {{ source('raw', 'customers') }} c on o.cid = c.id " + NEWER,
            MERGE,
        ),
        # the filter is above the window function
        (rules.windows, f"select * from (select *, row_number() over (order by updated_at) as n from ({ORDERS}) o) w {NEWER}", MERGE),
        (rules.windows, f"{ORDERS} {NEWER}", MERGE),
        # the newest row of each key, which replaces the stored one
        (
            rules.windows,
            f"select * from (select *, row_number() over (partition by id order by updated_at desc) as n from ({ORDERS} {NEWER}) o) where n = 1",
            MERGE,
        ),
        # the whole history of the customers of the batch is read again, with late rows
        (
            rules.late,
            f"with touched as (select distinct customer_id from {{{{ source('raw', 'orders') }}}} {NEWER})\n"
            f"select o.* from ({ORDERS}) o join touched t on o.customer_id = t.customer_id",
            MERGE,
        ),
        (
            rules.windows,
            f"with touched as (select distinct customer_id from {{{{ source('raw', 'orders') }}}} {NEWER})\n"
            f"select o.*, sum(o.price) over (partition by o.customer_id order by o.id) as total from ({ORDERS}) o "
            "join touched t on o.customer_id = t.customer_id",
            MERGE,
        ),
        (
            rules.aggregates,
            f"with touched as (select distinct customer_id from {{{{ source('raw', 'orders') }}}} {NEWER})\n"
            f"select o.customer_id, sum(o.price) as total from ({ORDERS}) o join touched t on o.customer_id = t.customer_id group by 1",
            MERGE,
        ),
        # whole days are read again
        (
            rules.aggregates,
            "select date(updated_at) as day, sum(price) as total from {{ source('raw', 'orders') }} "
            "{% if is_incremental() %} where date(updated_at) >= (select max(day) from {{ this }}) {% endif %} group by 1",
            {**MERGE, "unique_key": "day"},
        ),
        (
            rules.aggregates,
            "select day, sum(price) as total from {{ source('raw', 'orders') }} "
            "{% if is_incremental() %} where day >= (select max(day) from {{ this }}) {% endif %} group by day",
            {**MERGE, "unique_key": "day"},
        ),
        (
            rules.aggregates,
            f"select date(updated_at) as day, sum(price) as total from ({ORDERS} {LATER}) o group by 1",
            {**MERGE, "unique_key": "day"},
        ),
        (rules.aggregates, f"select customer_id, sum(price) as total from ({ORDERS}) o group by 1", MERGE),
        (rules.appended, f"{ORDERS} {NEWER}", APPEND),
        (rules.appended, f"{ORDERS} {FROM_NEWEST}", MERGE),
        (rules.appended, f"{ORDERS} {BY_MACRO}", APPEND),
        (rules.appended, f"{ORDERS} {{{{ newer_than('updated_at') }}}}", {**APPEND, "macros": ["macro.shop.newer_than"]}),
        (rules.overwritten, ORDERS, {"incremental_strategy": "insert_overwrite", "partition_by": ["day"]}),
        (rules.overwritten, f"{ORDERS} {NEWER}", MERGE),
        (rules.lookback, f"{ORDERS} {NEWER}", MERGE),
        (rules.frozen_columns, ORDERS, MERGE),
        (rules.frozen_columns, ORDERS, {**APPEND, "merge_update_columns": ["price"]}),
    ],
)  # fmt: skip
def test_nothing_is_said_without_need(rule: Rule, text: str, config: dict[str, Any]) -> None:
    assert said(rule, text, **config) is None


def test_a_partition_that_the_filter_is_about_is_read_as_a_whole() -> None:
    text = "select id, day from {{ source('raw', 'orders') }} {% if is_incremental() %} where day >= (select max(day) from {{ this }}) {% endif %}"
    found = said(rules.overwritten, text, incremental_strategy="insert_overwrite", partition_by=["day"])
    assert found is not None and "loses" not in found


def test_inputs_of_microbatch_without_a_time() -> None:
    def found(**config: Any) -> str | None:
        node = model("sales", *READS, config={"incremental_strategy": "microbatch", "batch_size": "day"})
        orders = source("orders", **config)
        return rules.joined(adoption(node, "sales", ORDERS, manifest(node, orders, CUSTOMERS)).old)

    assert "`raw.customers`" in str(found(event_time="updated_at"))
    assert found() is None  # no input is filtered


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_table_and_a_view_miss_nothing(kind: str) -> None:
    assert adopted(ORDERS, materialized=kind).missed == ()


@pytest.mark.parametrize(
    "adapter, strategy", [("spark", "append"), ("idivm", "append"), ("databricks", "merge"), ("snowflake", None)]
)
def test_the_strategy_of_the_adapter(adapter: str, strategy: str | None) -> None:
    node: Node = model("sales", *READS)
    found = adoption(node, "sales", ORDERS, manifest(node, CUSTOMERS, adapter=adapter))
    assert found.old.strategy == strategy


def test_conditions_that_are_not_known() -> None:
    """A filter that may be there makes it unclear what the batch is; a part without one does not."""
    limited = joined_with(NEWER) + "{% if target.name == 'dev' %} limit 10 {% endif %}"
    filtered = joined_with(NEWER) + "{% if target.name == 'dev' %} where id < 10 {% endif %}"
    assert said(rules.joined, limited, **MERGE) and said(rules.joined, filtered, **MERGE) is None


def test_every_rule_is_listed() -> None:
    functions = {name for name, each in vars(rules).items() if getattr(each, "__annotations__", {}).get("old") == "Old"}
    assert {each.__name__ for each in RULES} == functions - {"missed", "_clear", "is_latest_of_key"}

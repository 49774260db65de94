select
    store_id,
    product_id,
    moved_on,
    net_quantity,
    sum(net_quantity) over (
        partition by store_id, product_id order by moved_on
        rows between unbounded preceding and current row
    ) as stock_at_end_of_day,
    lag(moved_on) over (partition by store_id, product_id order by moved_on) as previous_day
from {{ ref('int_inventory_daily') }}

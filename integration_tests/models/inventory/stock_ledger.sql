select
    movement_id,
    store_id,
    product_id,
    kind,
    moved_at,
    quantity,
    sum(quantity) over movements as stock_after,
    count(*) over movements as movements_so_far,
    min(quantity) over movements as largest_outflow
from {{ ref('stg_inventory_movements') }}
window movements as (partition by store_id, product_id order by moved_at, movement_id)

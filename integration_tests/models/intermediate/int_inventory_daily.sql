select
    store_id,
    product_id,
    moved_on,
    sum(quantity) as net_quantity,
    sum(quantity) filter (where quantity > 0) as quantity_in,
    sum(quantity) filter (where quantity < 0) as quantity_out,
    count(*) as movements
from {{ ref('stg_inventory_movements') }}
group by all

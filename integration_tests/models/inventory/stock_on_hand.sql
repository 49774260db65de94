select store_id, product_id, sum(quantity) as on_hand, count(*) as movements, max(moved_on) as last_moved_on
from {{ ref('stg_inventory_movements') }}
group by store_id, product_id

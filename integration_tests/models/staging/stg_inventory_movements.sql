select
    movement_id,
    store_id,
    product_id,
    kind,
    case when kind in ('sale', 'transfer', 'loss') then -abs(quantity) else quantity end as quantity,
    moved_at,
    cast(moved_at as date) as moved_on
from {{ source('retail', 'inventory_movements') }}

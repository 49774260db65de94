select
    m.movement_id,
    m.store_id,
    m.product_id,
    m.kind,
    m.quantity,
    cast(m.quantity * p.unit_cost as decimal(14, 2)) as value_at_cost,
    m.moved_on,
    {{ date_key('m.moved_on') }} as moved_date_key
from {{ ref('stg_inventory_movements') }} m
inner join {{ ref('stg_products') }} p on p.product_id = m.product_id

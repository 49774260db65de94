select
    store_id,
    {{ pivot_sum('abs(quantity)', 'kind', ['receipt', 'sale', 'transfer', 'adjustment', 'loss'], 'units_') }},
    bit_or(case kind when 'receipt' then 1 when 'sale' then 2 when 'transfer' then 4 else 8 end) as kinds_seen,
    max(abs(quantity)) as largest_movement
from {{ ref('stg_inventory_movements') }}
group by store_id

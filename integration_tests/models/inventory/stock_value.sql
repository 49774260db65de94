select
    s.store_name,
    p.department,
    sum(m.quantity) as units,
    sum(m.value_at_cost) as value_at_cost
from {{ ref('fct_inventory_movements') }} m
join {{ ref('dim_stores') }} s on s.store_id = m.store_id
join {{ ref('dim_products') }} p on p.product_id = m.product_id
group by s.store_name, p.department

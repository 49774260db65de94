select p.category_id, p.product_id, p.supplier_id, p.unit_cost
from {{ ref('stg_products') }} p
where p.unit_cost = (
    select min(i.unit_cost)
    from {{ ref('stg_products') }} i
    where i.category_id = p.category_id
)

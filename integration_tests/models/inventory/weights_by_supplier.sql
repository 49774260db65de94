select
    s.supplier_name,
    count(*) as products,
    sum(p.weight_kg) as total_kg,
    avg(p.weight_kg) as average_kg,
    max(p.weight_kg) as heaviest_kg,
    array_join(sort_array(collect_set(p.sku), false), ', ') as skus
from {{ ref('stg_products') }} p
join {{ ref('stg_suppliers') }} s on s.supplier_id = p.supplier_id
group by s.supplier_name

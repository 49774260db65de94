with products as (
    select p.product_id, p.sku, p.product_name, p.brand, c.category_path, c.department, s.supplier_name, p.unit_price, p.is_eco
    from {{ ref('stg_products') }} p
    left join {{ ref('int_category_paths') }} c on c.category_id = p.category_id
    left join {{ ref('stg_suppliers') }} s on s.supplier_id = p.supplier_id
)
select product_id, sku, product_name, brand, category_path, department, supplier_name, unit_price, is_eco
from products
union all
select -1, 'none', 'unknown product', 'no brand', 'unknown', 'unknown', 'unknown', 0.00, false

select
    p.department,
    p.supplier_name,
    sum(i.margin_amount) as margin_amount,
    grouping(p.department) as over_departments,
    grouping(p.supplier_name) as over_suppliers
from {{ ref('fct_order_items') }} i
join {{ ref('dim_products') }} p on p.product_id = i.product_id
group by grouping sets ((p.department), (p.supplier_name), ())

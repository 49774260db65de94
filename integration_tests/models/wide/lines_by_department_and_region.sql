select
    k.department,
    n.region as supplier_region,
    c.region as customer_region,
    d.fiscal_quarter,
    count(*) as line_count,
    count(r.refund_amount) as returned_lines,
    sum(i.quantity) as units,
    sum(i.net_amount) as net_amount,
    sum(i.quantity * p.unit_cost) as cost_amount
from {{ ref('stg_order_items') }} i
left join {{ ref('stg_orders') }} o on o.order_id = i.order_id
left join {{ ref('stg_products') }} p on p.product_id = i.product_id
left join {{ ref('int_category_paths') }} k on k.category_id = p.category_id
left join {{ ref('stg_suppliers') }} s on s.supplier_id = p.supplier_id
left join {{ ref('countries') }} n on n.country_code = s.country_code
left join {{ ref('dim_customers') }} c on c.customer_id = o.customer_id
left join {{ ref('dim_stores') }} b on b.store_id = o.store_id
left join {{ ref('stg_promotions') }} m on m.promotion_id = o.promotion_id
left join {{ ref('dim_dates') }} d on d.calendar_date = o.ordered_on
left join {{ ref('int_returns_by_line') }} r on r.order_id = i.order_id and r.line_number = i.line_number
where coalesce(b.is_open, true) and coalesce(m.kind, 'none') <> 'free shipping'
group by k.department, n.region, c.region, d.fiscal_quarter

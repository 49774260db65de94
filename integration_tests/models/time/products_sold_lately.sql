{%- set days = var('recent_days') -%}
select
    p.product_id,
    p.product_name,
    count(i.order_id) as lines,
    coalesce(sum(i.quantity), 0) as units
from {{ ref('stg_products') }} p
left join {{ ref('fct_order_items') }} i
    on i.product_id = p.product_id
    and i.ordered_on between {{ days_ago(days) }} and current_date()
group by p.product_id, p.product_name

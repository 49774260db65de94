{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'caches': 'all'}}) }}
with sales as (
    select p.department, sum(i.net_amount) as net_amount, sum(i.quantity) as units
    from {{ ref('fct_order_items') }} i
    join {{ ref('dim_products') }} p using (product_id)
    group by p.department
),
stock as (
    select department, sum(units) as units_in_stock, sum(value_at_cost) as value_at_cost
    from {{ ref('stock_value') }}
    group by department
),
refunds as (
    select p.department, sum(r.refund) as refund_amount
    from {{ ref('fct_returns') }} r
    join {{ ref('dim_products') }} p using (product_id)
    group by p.department
)
select
    s.department,
    s.net_amount,
    s.units,
    k.units_in_stock,
    k.value_at_cost,
    coalesce(f.refund_amount, 0) as refund_amount,
    rank() over (order by s.net_amount desc) as rank_by_sales
from sales s
left join stock k on k.department = s.department
left join refunds f on f.department = s.department

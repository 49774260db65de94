{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'caches': ['refunds']}}) }}
with refunds as (
    select o.customer_id, sum(r.refund) as refund_amount
    from {{ ref('stg_returns') }} r
    join {{ ref('stg_orders') }} o on o.order_id = r.order_id
    group by o.customer_id
)
select
    c.customer_id,
    c.segment,
    c.net_amount - coalesce(r.refund_amount, 0) as value,
    sum(c.net_amount - coalesce(r.refund_amount, 0)) over (partition by c.segment) as value_of_segment,
    ntile(4) over (partition by c.segment order by c.net_amount desc, c.customer_id) as quartile
from {{ ref('customer_orders') }} c
left join refunds r on r.customer_id = c.customer_id
where c.orders > 0

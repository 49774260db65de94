{{ config(meta={'idivm': {'strategy': 'recompute'}}) }}
select o.order_id, o.customer_id, o.ordered_on, o.net_amount
from {{ ref('fct_orders') }} o
left anti join {{ ref('stg_payments') }} p on p.order_id = o.order_id and p.status = 'settled'
where o.is_revenue

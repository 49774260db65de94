{{ config(meta={'idivm': {'strategy': 'id'}}) }}
select o.order_id, o.order_number, o.customer_id, o.ordered_on, o.net_amount
from {{ ref('fct_orders') }} o
where o.order_id in (
    select order_id
    from {{ ref('stg_order_items') }}
    group by order_id
    having sum(quantity) >= 12
)

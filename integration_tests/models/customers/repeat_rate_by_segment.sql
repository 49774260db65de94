select
    segment,
    least(orders, 5) as orders_up_to_five,
    count(*) as customers,
    sum(net_amount) as net_amount
from (
    select c.segment, c.customer_id, count(*) as orders, sum(o.net_amount) as net_amount
    from {{ ref('stg_customers') }} c
    join {{ ref('fct_orders') }} o on o.customer_id = c.customer_id
    group by c.segment, c.customer_id
) per_customer
group by segment, least(orders, 5)

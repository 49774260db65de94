select
    c.customer_id,
    c.full_name,
    c.segment,
    count(o.order_id) as orders,
    sum(o.net_amount) as net_amount,
    min(o.ordered_on) as first_order_on,
    max(o.ordered_on) as last_order_on
from {{ ref('dim_customers') }} c
left join {{ ref('fct_orders') }} o on o.customer_id = c.customer_id and o.is_revenue
group by c.customer_id, c.full_name, c.segment

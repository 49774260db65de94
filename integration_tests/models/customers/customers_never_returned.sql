select c.customer_id, c.segment
from {{ ref('dim_customers') }} c
left semi join {{ ref('int_active_customers') }} a on a.customer_id = c.customer_id
left anti join (
    select o.customer_id
    from {{ ref('stg_orders') }} o
    join {{ ref('stg_returns') }} r on r.order_id = o.order_id
) b on b.customer_id = c.customer_id

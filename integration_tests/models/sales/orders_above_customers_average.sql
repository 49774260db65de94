select o.order_id, o.customer_id, o.net_amount
from {{ ref('fct_orders') }} o
where o.net_amount > (
    select 1.5 * avg(i.net_amount)
    from {{ ref('fct_orders') }} i
    where i.customer_id = o.customer_id and i.is_revenue
)

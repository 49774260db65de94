select
    c.customer_id,
    c.full_name,
    o.last_order_on,
    datediff(current_date(), o.last_order_on) as days_since_last_order
from {{ ref('dim_customers') }} c
join (
    select customer_id, max(ordered_on) as last_order_on
    from {{ ref('stg_orders') }}
    group by customer_id
) o on o.customer_id = c.customer_id

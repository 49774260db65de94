select
    order_id,
    customer_id,
    ordered_on,
    row_number() over orders as order_number_of_customer,
    datediff(ordered_on, lag(ordered_on) over orders) as days_since_previous,
    datediff(lead(ordered_on) over orders, ordered_on) as days_until_next
from {{ ref('stg_orders') }}
where customer_id is not null
window orders as (partition by customer_id order by ordered_at, order_id)

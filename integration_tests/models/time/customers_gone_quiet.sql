select
    customer_id,
    count(*) as orders,
    max(ordered_on) as last_order_on
from {{ ref('stg_orders') }}
where customer_id is not null
group by customer_id
having max(ordered_on) < current_date() - interval 60 days

select order_id, customer_id, ordered_at, net_amount
from {{ ref('fct_orders') }}
order by ordered_at desc, order_id desc
limit 20 offset 5

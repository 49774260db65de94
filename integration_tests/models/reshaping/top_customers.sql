select customer_id, full_name, net_amount
from {{ ref('customer_orders') }}
where net_amount is not null
order by net_amount desc, customer_id
limit 10

select order_id, customer_id, ordered_on, net_amount
from {{ ref('fct_orders') }}
where is_revenue
  and net_amount > (select avg(net_amount) from {{ ref('fct_orders') }} where is_revenue)

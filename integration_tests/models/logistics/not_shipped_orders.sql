select order_id, order_number, customer_id, ordered_on
from {{ ref('fct_orders') }} o
where o.status_group = 'open'
  and o.paid_amount > 0
  and o.order_id not in (select order_id from {{ ref('stg_shipments') }})

select order_id, 'ordered' as event, ordered_at as happened_at, net_amount as amount
from {{ ref('fct_orders') }}
union all
select order_id, 'paid', paid_at, amount
from {{ ref('fct_payments') }}
where status = 'settled'
union all
select order_id, 'shipped', shipped_at, null
from {{ ref('fct_shipments') }}
union all
select order_id, 'returned', returned_at, refund
from {{ ref('fct_returns') }}

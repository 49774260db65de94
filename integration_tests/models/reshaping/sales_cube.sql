select channel, status, count(*) as orders, sum(net_amount) as net_amount
from {{ ref('fct_orders') }}
group by cube (channel, status)

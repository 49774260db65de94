select *
from (select trunc(ordered_on, 'MM') as month_start, channel, net_amount from {{ ref('fct_orders') }})
pivot (sum(net_amount) as net_amount, count(*) as orders for channel in ('web' as web, 'store' as store))

select day, measure, value
from (select day, cast(orders as decimal(20, 2)) as orders, cast(net_amount as decimal(20, 2)) as net_amount from {{ ref('kpi_daily') }})
unpivot (value for measure in (orders, net_amount))

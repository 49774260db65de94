select
    trunc(day, 'MM') as month_start,
    sum(orders) as orders,
    sum(net_amount) as net_amount,
    sum(returns) as returns,
    sum(coalesce(purchases, 0)) as purchases_on_the_site,
    count_if(orders = 0) as days_without_orders
from {{ ref('kpi_daily') }}
group by trunc(day, 'MM')

select
    trunc(ordered_on, 'MM') as month_start,
    {{ pivot_sum('net_amount', 'channel', ['web', 'store', 'phone'], 'net_') }},
    sum(net_amount) as net_amount
from {{ ref('fct_orders') }}
where is_revenue
group by trunc(ordered_on, 'MM')

select
    channel,
    count(*) as orders,
    avg(units) as average_units,
    round(stddev(net_amount), 4) as deviation,
    round(var_pop(net_amount), 2) as variance,
    median(net_amount) as median_amount,
    percentile_cont(0.9) within group (order by net_amount) as large_amount,
    round(skewness(net_amount), 3) as skewness
from {{ ref('fct_orders') }}
where is_revenue
group by channel

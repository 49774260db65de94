select
    channel,
    ordered_on,
    net_amount,
    sum(net_amount) over year_to_date as running_amount,
    avg(net_amount) over (
        partition by channel order by ordered_on rows between 6 preceding and current row
    ) as seven_day_average,
    lag(net_amount) over days as previous_amount,
    lead(net_amount, 1, 0) over days as next_amount
from {{ ref('sales_daily') }}
window
    year_to_date as (
        partition by channel, year(ordered_on) order by ordered_on rows between unbounded preceding and current row
    ),
    days as (partition by channel order by ordered_on)

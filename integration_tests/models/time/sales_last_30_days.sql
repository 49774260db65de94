select
    channel,
    count(*) as orders,
    sum(net_amount) as net_amount,
    max(ordered_on) as last_order_on
from {{ ref('fct_orders') }}
where ordered_on >= current_date() - interval 30 days
  and is_revenue
group by channel

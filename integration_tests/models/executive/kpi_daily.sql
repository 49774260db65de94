with returns as (
    select returned_on as day, count(*) as returns, sum(refund) as refund_amount
    from {{ ref('stg_returns') }}
    group by returned_on
),
sales as (
    select ordered_on as day, sum(orders) as orders, sum(net_amount) as net_amount
    from {{ ref('sales_daily') }}
    group by ordered_on
),
visits as (
    select occurred_on as day, events, purchases from {{ ref('web_daily') }}
)
select
    day,
    coalesce(s.orders, 0) as orders,
    coalesce(s.net_amount, 0) as net_amount,
    coalesce(r.returns, 0) as returns,
    coalesce(r.refund_amount, 0) as refund_amount,
    v.events,
    v.purchases
from sales s
full outer join returns r using (day)
full outer join visits v using (day)

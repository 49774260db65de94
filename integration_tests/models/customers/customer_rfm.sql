with bought as (
    select * from {{ ref('customer_orders') }} where orders > 0
),
latest as (
    select max(last_order_on) as as_of from {{ ref('customer_orders') }}
),
scored as (
    select
        b.customer_id,
        datediff(l.as_of, b.last_order_on) as days_since,
        b.orders,
        b.net_amount,
        least(5, cast(b.orders as int)) as frequency_score,
        case when b.net_amount >= 1000 then 5 when b.net_amount >= 300 then 3 else 1 end as amount_score
    from bought b
    cross join latest l
)
select
    s.customer_id,
    r.score as recency_score,
    s.frequency_score,
    s.amount_score,
    concat(r.score, s.frequency_score, s.amount_score) as rfm_cell
from scored s
join {{ ref('rfm_scores') }} r on s.days_since between r.days_from and r.days_to

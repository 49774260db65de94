with lines as (
    select order_id, count(*) as lines, sum(quantity) as units, sum(net_amount) as net_amount
    from {{ ref('stg_order_items') }}
    group by order_id
),
payments as (
    select order_id, count(*) as payments, sum(amount) as paid_amount, max(paid_at) as last_paid_at
    from {{ ref('stg_payments') }}
    where status = 'settled'
    group by order_id
),
refunds as (
    select order_id, count(*) as refunds, sum(refund) as refund_amount
    from {{ ref('stg_returns') }}
    group by order_id
),
of_customer as (
    select customer_id, count(*) as orders, min(ordered_on) as first_ordered_on
    from {{ ref('stg_orders') }}
    group by customer_id
)
select
    o.order_id, o.customer_id, o.ordered_on, o.status,
    l.lines, l.units, l.net_amount,
    coalesce(p.payments, 0) as payments, p.paid_amount, p.last_paid_at,
    coalesce(r.refunds, 0) as refunds, r.refund_amount,
    c.orders as orders_of_customer, c.first_ordered_on
from {{ ref('stg_orders') }} o
left join lines l on l.order_id = o.order_id
left join payments p on p.order_id = o.order_id
left join refunds r on r.order_id = o.order_id
left join of_customer c on c.customer_id = o.customer_id

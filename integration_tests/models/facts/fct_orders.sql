{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'cluster_by': ['order_id']}}) }}
with orders as (
    select * from {{ ref('stg_orders') }}
),
amounts as (
    select * from {{ ref('int_order_amounts') }}
),
payments as (
    select * from {{ ref('int_payments_by_order') }}
),
statuses as (
    select * from {{ ref('order_statuses') }}
)
select
    o.order_id,
    o.order_number,
    o.customer_id,
    coalesce(o.store_id, 0) as store_id,
    o.employee_id,
    o.promotion_id,
    o.channel,
    o.status,
    s.status_group,
    coalesce(s.is_revenue, false) as is_revenue,
    o.ordered_at,
    o.ordered_on,
    {{ date_key('o.ordered_on') }} as order_date_key,
    coalesce(a.line_count, 0) as line_count,
    coalesce(a.units, 0) as units,
    coalesce(a.gross_amount, 0) as gross_amount,
    coalesce(a.discount_amount, 0) as discount_amount,
    coalesce(a.net_amount, 0) as net_amount,
    coalesce(a.tax_amount, 0) as tax_amount,
    o.shipping_fee,
    coalesce(p.paid_amount, 0) as paid_amount,
    p.last_paid_at
from orders o
left join amounts a on a.order_id = o.order_id
left join payments p on p.order_id = o.order_id
left join statuses s on s.status = o.status

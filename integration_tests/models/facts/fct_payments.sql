select
    p.payment_id,
    p.order_id,
    o.customer_id,
    p.method,
    p.provider,
    p.attempts,
    p.amount,
    p.status,
    p.paid_at,
    p.risk,
    case when p.risk >= 0.75 then 'high' when p.risk >= 0.5 then 'medium' else 'low' end as risk_class,
    unix_timestamp(p.paid_at) - unix_timestamp(o.ordered_at) as seconds_to_pay
from {{ ref('stg_payments') }} p
join {{ ref('stg_orders') }} o using (order_id)

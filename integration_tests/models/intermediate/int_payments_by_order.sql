select
    order_id,
    count(*) as attempts,
    count_if(status = 'settled') as settled_payments,
    sum(amount) filter (where status = 'settled') as paid_amount,
    sum(amount) filter (where status = 'refunded') as refunded_amount,
    max(paid_at) filter (where status = 'settled') as last_paid_at,
    bool_or(method = 'voucher') as used_voucher
from {{ ref('stg_payments') }}
group by 1

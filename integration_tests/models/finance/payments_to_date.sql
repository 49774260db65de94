select
    payment_id,
    method,
    paid_at,
    amount,
    sum(amount) over (partition by method order by paid_at) as paid_to_date,
    max(amount) over (partition by method order by paid_at) as largest_to_date
from {{ ref('stg_payments') }}

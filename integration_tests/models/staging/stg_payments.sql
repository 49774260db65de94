select
    payment_id,
    order_id,
    method,
    amount,
    status,
    paid_at,
    from_json(details, 'provider string, risk double, attempts int').provider as provider,
    from_json(details, 'provider string, risk double, attempts int').risk as risk,
    coalesce(from_json(details, 'provider string, risk double, attempts int').attempts, 1) as attempts
from {{ source('retail', 'payments') }}

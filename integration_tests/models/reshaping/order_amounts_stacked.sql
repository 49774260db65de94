select
    order_id,
    stack(
        3,
        'net', cast(net_amount as decimal(14, 2)),
        'tax', cast(tax_amount as decimal(14, 2)),
        'discount', cast(discount_amount as decimal(14, 2))
    ) as (kind, amount)
from {{ ref('fct_orders') }}

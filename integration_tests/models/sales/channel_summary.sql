select
    count(*) as orders,
    count_if(status = 'cancelled') as cancelled_orders,
    sum(net_amount) as net_amount,
    sum(shipping_fee) as shipping_fees,
    max(ordered_at) as latest_order_at
from {{ ref('fct_orders') }}

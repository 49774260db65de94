select
    customer_id,
    min_by(channel, ordered_at) as first_channel,
    min_by(order_id, ordered_at) as first_order_id,
    max_by(channel, ordered_at) as last_channel,
    collect_list(channel) as channels
from {{ ref('fct_orders') }}
where customer_id is not null
group by customer_id

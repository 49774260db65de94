select
    order_id,
    event,
    happened_at,
    lead(event) over (partition by order_id order by happened_at) as next_event,
    timestampdiff(HOUR, happened_at, lead(happened_at) over (partition by order_id order by happened_at)) as hours_until_next
from {{ ref('fct_order_events') }}

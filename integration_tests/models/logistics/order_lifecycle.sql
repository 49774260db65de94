with steps as (
    select
        order_id,
        min(case when event = 'ordered' then happened_at end) as ordered_at,
        min(case when event = 'paid' then happened_at end) as paid_at,
        min(case when event = 'shipped' then happened_at end) as shipped_at,
        max(case when event = 'returned' then happened_at end) as returned_at
    from {{ ref('fct_order_events') }}
    group by order_id
)
select
    *,
    timestampdiff(HOUR, ordered_at, paid_at) as hours_to_payment,
    timestampdiff(HOUR, paid_at, shipped_at) as hours_to_shipment,
    returned_at is not null as came_back
from steps

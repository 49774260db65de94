-- carts after which nothing followed
select visitor_id, occurred_at, page
from (
    select
        visitor_id,
        event_type,
        occurred_at,
        page,
        lead(event_type) over (partition by visitor_id order by occurred_at) as next_event
    from {{ ref('stg_web_events') }}
) events
where event_type = 'cart' and coalesce(next_event, 'none') not in ('checkout', 'purchase')

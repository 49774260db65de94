-- one row per customer and symbol that was ever watched
with events as (

    select distinct customer_id, symbol, event_ts, action
    from {{ ref('stg_watch_events') }}

)

select
    customer_id,
    symbol,
    min(event_ts) filter (where action = 'activated') as placed_at,
    max(event_ts) filter (where action = 'cancelled') as removed_at,
    count(*) as events,
    coalesce(
        max(case when action = 'cancelled' then event_ts end) >= max(case when action = 'activated' then event_ts end), false
    ) as is_removed,
    current_timestamp() as loaded_at
from events
group by customer_id, symbol

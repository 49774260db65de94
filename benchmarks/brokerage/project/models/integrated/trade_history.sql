-- the events of a trade in their order
select
    h.trade_id,
    row_number() over (partition by h.trade_id order by h.event_ts) as event_number,
    s.status_name as status,
    lag(s.status_name) over (partition by h.trade_id order by h.event_ts) as previous_status,
    h.event_ts,
    lead(h.event_ts) over (partition by h.trade_id order by h.event_ts) as next_event_ts,
    timestampdiff(second, lag(h.event_ts) over (partition by h.trade_id order by h.event_ts), h.event_ts) as seconds_since_previous,
    count(*) over (partition by h.trade_id) as events_of_trade,
    current_timestamp() as loaded_at
from {{ ref('stg_trade_events') }} h
left join {{ ref('stg_status_types') }} s on h.status_id = s.status_id

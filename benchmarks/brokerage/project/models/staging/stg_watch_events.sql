select
    cdc_sequence,
    customer_id,
    upper(symbol) as symbol,
    event_ts,
    to_date(event_ts) as event_date,
    case action when 'ACTV' then 'activated' when 'CNCL' then 'cancelled' else 'unknown' end as action
from {{ source('brokerage', 'watch_events') }}

select distinct
    trade_id,
    event_ts,
    status_id
from {{ source('brokerage', 'trade_events') }}

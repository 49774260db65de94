select visitor_id, event_type, page, occurred_at, device
from {{ ref('stg_web_events') }}
where occurred_at >= current_timestamp() - interval 7 days

select visitor_id, event_type, page, occurred_at, count(*) as copies
from {{ ref('stg_web_events') }}
group by visitor_id, event_type, page, occurred_at
having count(*) > 1

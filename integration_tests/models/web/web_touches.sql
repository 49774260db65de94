select
    visitor_id,
    min_by(referrer, occurred_at) as first_touch,
    max_by(referrer, occurred_at) as last_touch,
    first(device, true) as first_device,
    min(occurred_at) as first_seen_at
from {{ ref('stg_web_events') }}
group by visitor_id

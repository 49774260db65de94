select
    visitor_id,
    customer_id,
    event_type,
    split(page, '[?]')[0] as page,
    product_id,
    occurred_at,
    cast(occurred_at as date) as occurred_on,
    get_json_object(payload, '$.device') as device,
    get_json_object(payload, '$.referrer') as referrer,
    seconds
from {{ source('retail', 'web_events') }}
where page not like '/health%'

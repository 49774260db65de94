select
    e.visitor_id,
    e.customer_id,
    e.event_type,
    e.page,
    e.device,
    parse_url(e.referrer, 'HOST') as referrer_host,
    e.occurred_at,
    e.seconds,
    p.sku,
    p.category_id
from {{ ref('stg_web_events') }} e
left join {{ ref('stg_products') }} p on p.product_id = e.product_id

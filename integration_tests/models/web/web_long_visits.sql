select e.visitor_id, e.page, e.occurred_at, e.seconds
from {{ ref('stg_web_events') }} e
join {{ ref('web_pages') }} p on p.page = e.page
where e.seconds > 2 * p.seconds / p.events

select
    visitor_id,
    count(*) as visits,
    sum(events) as events,
    min(occurred_on) as first_visit_on,
    max(occurred_on) as last_visit_on,
    count(*) > 1 as came_back
from {{ ref('int_web_sessions') }}
group by visitor_id

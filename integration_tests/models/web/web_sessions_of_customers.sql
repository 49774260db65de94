select
    w.session_key,
    w.visitor_id,
    w.occurred_on,
    c.full_name,
    c.segment,
    w.events,
    w.purchases > 0 as has_bought,
    timestampdiff(MINUTE, w.started_at, w.ended_at) as minutes
from {{ ref('int_web_sessions') }} w
left join {{ ref('dim_customers') }} c on c.customer_id = w.customer_id

select session_key, visitor_id, occurred_on, purchases, visit_number - 1 as visits_before, days_since_last_visit
from (
    select
        session_key,
        visitor_id,
        occurred_on,
        purchases,
        row_number() over visits as visit_number,
        datediff(occurred_on, lag(occurred_on) over visits) as days_since_last_visit
    from {{ ref('int_web_sessions') }}
    window visits as (partition by visitor_id order by occurred_on, session_key)
)
where purchases > 0

-- a visit ends after half an hour without an event
with gaps as (

    select
        visitor_id,
        event_type,
        page,
        occurred_at,
        case
            when occurred_at > lag(occurred_at) over (partition by visitor_id order by occurred_at) + interval 30 minutes then 1
            else 0
        end as is_new_session
    from {{ ref('stg_web_events') }}

)

select
    visitor_id,
    event_type,
    page,
    occurred_at,
    sum(is_new_session) over (
        partition by visitor_id order by occurred_at rows between unbounded preceding and current row
    ) as session_number
from gaps

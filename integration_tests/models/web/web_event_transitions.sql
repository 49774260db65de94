with steps as (

    select
        event_type as from_event,
        lead(event_type) over (partition by visitor_id order by occurred_at) as to_event,
        lead(occurred_at) over (partition by visitor_id order by occurred_at) as next_at,
        occurred_at
    from {{ ref('stg_web_events') }}

)

select from_event, coalesce(to_event, 'exit') as to_event, count(*) as transitions
from steps
group by from_event, coalesce(to_event, 'exit')

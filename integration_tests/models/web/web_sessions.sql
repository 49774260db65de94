with lagged as (

    select
        visitor_id,
        event_type,
        occurred_at,
        unix_timestamp(occurred_at)
            - unix_timestamp(lag(occurred_at) over (partition by visitor_id order by occurred_at)) as seconds_since_last
    from {{ ref('stg_web_events') }}

),

numbered as (

    select
        visitor_id,
        event_type,
        occurred_at,
        sum(case when seconds_since_last is null or seconds_since_last > 1800 then 1 else 0 end)
            over (partition by visitor_id order by occurred_at) as session_index
    from lagged

)

select
    {{ surrogate_key(['visitor_id', 'session_index']) }} as web_session_key,
    visitor_id,
    session_index,
    min(occurred_at) as started_at,
    max(occurred_at) as ended_at,
    count(*) as events,
    max(case when event_type = 'purchase' then 1 else 0 end) as has_purchase
from numbered
group by visitor_id, session_index

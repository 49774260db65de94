-- an event that was recorded twice, once
with numbered as (

    select
        visitor_id,
        customer_id,
        event_type,
        page,
        occurred_at,
        row_number() over (
            partition by visitor_id, event_type, page, occurred_at
            order by occurred_at
        ) as copy_number
    from {{ ref('stg_web_events') }}

)

select visitor_id, customer_id, event_type, page, occurred_at
from numbered
where copy_number = 1

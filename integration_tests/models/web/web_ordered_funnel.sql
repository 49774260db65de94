-- a step counts only after the one before it
with firsts as (

    select
        visitor_id,
        min(case when event_type = 'view' then occurred_at end) as viewed_at,
        min(case when event_type = 'cart' then occurred_at end) as put_into_cart_at,
        min(case when event_type = 'purchase' then occurred_at end) as purchased_at
    from {{ ref('stg_web_events') }}
    group by visitor_id

)

select
    to_date(viewed_at) as cohort_day,
    count(*) as visitors,
    count_if(put_into_cart_at >= viewed_at) as put_into_cart,
    count_if(put_into_cart_at >= viewed_at and purchased_at >= put_into_cart_at) as purchased
from firsts
where viewed_at is not null
group by to_date(viewed_at)

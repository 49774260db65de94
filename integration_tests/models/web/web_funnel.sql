with steps as (
    select
        occurred_on,
        visitor_id,
        max(case when event_type = 'view' then 1 else 0 end) as viewed,
        max(case when event_type = 'cart' then 1 else 0 end) as put_into_cart,
        max(case when event_type = 'checkout' then 1 else 0 end) as checked_out,
        max(case when event_type = 'purchase' then 1 else 0 end) as purchased
    from {{ ref('stg_web_events') }}
    group by occurred_on, visitor_id
)
select
    occurred_on,
    sum(viewed) as viewed,
    sum(put_into_cart) as put_into_cart,
    sum(checked_out) as checked_out,
    sum(purchased) as purchased,
    {{ percent_of('sum(purchased)', 'sum(viewed)', 1) }} as conversion_percent
from steps
group by occurred_on

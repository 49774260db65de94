{{ config(materialized='incremental', incremental_strategy='merge', unique_key='session_key') }}
select
    {{ surrogate_key(['visitor_id', 'occurred_on']) }} as session_key,
    visitor_id,
    occurred_on,
    max(customer_id) as customer_id,
    min(occurred_at) as started_at,
    max(occurred_at) as ended_at,
    count(*) as events,
    count_if(event_type = 'view') as views,
    count_if(event_type = 'cart') as carts,
    count_if(event_type = 'checkout') as checkouts,
    count_if(event_type = 'purchase') as purchases
from {{ ref('stg_web_events') }}
{% if is_incremental() %}
where occurred_on >= (select coalesce(max(occurred_on), date'1900-01-01') from {{ this }})
{% endif %}
group by visitor_id, occurred_on

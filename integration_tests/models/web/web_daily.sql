{{ config(alias='web_by_day') }}
select
    occurred_on,
    count(*) as events,
    count_if(event_type = 'purchase') as purchases,
    count(customer_id) as events_of_customers
from {{ ref('stg_web_events') }}
group by occurred_on

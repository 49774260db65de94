-- who a visitor is, from the last event at which the customer was known
select
    visitor_id,
    occurred_at,
    event_type,
    last_value(customer_id) ignore nulls over (
        partition by visitor_id order by occurred_at
        rows between unbounded preceding and current row
    ) as known_customer_id
from {{ ref('stg_web_events') }}

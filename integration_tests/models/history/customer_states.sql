-- each change with all that was known of the customer at that time
select
    customer_id,
    operation,
    changed_at,
    last_value(email) ignore nulls over history as email,
    last_value(segment) ignore nulls over history as segment,
    last_value(city) ignore nulls over history as city
from {{ ref('stg_customer_changes') }}
window history as (
    partition by customer_id order by changed_at rows between unbounded preceding and current row
)

select orders, count(*) as days, min(ordered_on) as first_day, max(ordered_on) as last_day
from (
    select ordered_on, count(*) as orders
    from {{ ref('fct_orders') }}
    group by ordered_on
)
group by orders

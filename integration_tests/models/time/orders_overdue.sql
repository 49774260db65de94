select
    order_id,
    customer_id,
    status,
    ordered_on,
    datediff(current_date(), ordered_on) as days_open,
    case when ordered_on + interval 14 days < current_date() then 'overdue' else 'in time' end as state
from {{ ref('fct_orders') }}
where status_group = 'open'

select o.order_id, o.order_number, o.customer_id, l.status as logged_status, l.changed_at
from {{ ref('stg_orders') }} o
left join (
    select order_id, status, changed_at,
           row_number() over (partition by order_id order by changed_at desc) as rank_in_log
    from {{ ref('stg_order_status_log') }}
) l on l.order_id = o.order_id and l.rank_in_log = 1
where o.status in ('pending', 'paid')

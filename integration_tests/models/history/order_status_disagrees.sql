-- orders of which the log says last what they are not
with logged as (
    select order_id, status, changed_at,
           row_number() over (partition by order_id order by changed_at desc) as rank_in_log
    from {{ ref('stg_order_status_log') }}
)

select l.order_id, o.order_number, o.status, l.status as logged_status, l.changed_at
from logged l
left join {{ ref('stg_orders') }} o on o.order_id = l.order_id
where l.rank_in_log = 1
  and l.status is distinct from o.status

select
    e.employee_id,
    e.full_name,
    e.store_id,
    sum(o.net_amount) as net_amount,
    count(o.order_id) as orders,
    rank() over (partition by e.store_id order by sum(o.net_amount) desc nulls last) as rank_in_store
from {{ ref('stg_employees') }} e
left join {{ ref('fct_orders') }} o on o.employee_id = e.employee_id and o.is_revenue
group by e.employee_id, e.full_name, e.store_id

select
    order_number,
    count(*) as uses,
    min(order_id) as first_order_id,
    max(order_id) as last_order_id,
    array_sort(collect_list(order_id)) as order_ids,
    bool_and(order_number rlike '^R-[0-9]{6}$') as is_well_formed
from {{ ref('stg_orders') }}
group by order_number
having count(*) > 1 or not bool_and(order_number rlike '^R-[0-9]{6}$')

select
    path,
    count(*) as orders
from (
    select
        order_id,
        concat_ws(' > ', transform(sort_array(collect_list(named_struct('at', changed_at, 'status', status))), x -> x.status)) as path
    from {{ ref('stg_order_status_log') }}
    group by order_id
) paths
group by path

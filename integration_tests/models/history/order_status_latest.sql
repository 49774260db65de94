select order_id, status, changed_at, changed_by
from (
    select
        *,
        row_number() over (partition by order_id order by changed_at desc) as rn
    from {{ ref('stg_order_status_log') }}
)
where rn = 1

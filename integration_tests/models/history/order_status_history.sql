select
    order_id,
    status,
    changed_by,
    changed_at as valid_from,
    lead(changed_at) over (partition by order_id order by changed_at) as valid_to,
    lead(changed_at) over (partition by order_id order by changed_at) is null as is_current
from {{ ref('stg_order_status_log') }}

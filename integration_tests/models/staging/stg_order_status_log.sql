select
    order_id,
    lower(status) as status,
    changed_at,
    cast(changed_at as date) as changed_on,
    changed_by
from {{ source('retail', 'order_status_log') }}
where status is not null

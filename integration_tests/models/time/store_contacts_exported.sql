-- every row says which run has exported it
select
    store_id,
    store_name,
    city,
    '{{ run_started_at }}' as exported_at
from {{ ref('dim_stores') }}
where is_open

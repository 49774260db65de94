select
    supplier_id,
    supplier_name,
    contact_email,
    '{{ run_started_at.strftime("%Y-%m-%d") }}' as file_date,
    now() as dbt_loaded_at
from {{ ref('stg_suppliers') }}
where is_active

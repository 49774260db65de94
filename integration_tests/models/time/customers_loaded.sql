select
    customer_id,
    full_name,
    email,
    segment,
    updated_at,
    current_timestamp() as loaded_at
from {{ ref('stg_customers') }}

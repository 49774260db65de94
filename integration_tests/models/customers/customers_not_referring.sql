select customer_id, full_name
from {{ ref('stg_customers') }}
where customer_id not in (select referred_by from {{ ref('stg_customers') }} where referred_by is not null)

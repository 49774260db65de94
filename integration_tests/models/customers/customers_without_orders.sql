select customer_id, full_name, email, signup_date
from {{ ref('dim_customers') }} c
where not exists (select 1 from {{ ref('stg_orders') }} o where o.customer_id = c.customer_id)

select
    a.customer_id,
    a.full_name,
    b.customer_id as referred_customer_id,
    b.full_name as referred_name,
    datediff(b.signup_date, a.signup_date) as days_between
from {{ ref('stg_customers') }} a
join {{ ref('stg_customers') }} b on b.referred_by = a.customer_id

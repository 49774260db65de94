select
    employee_id,
    full_name,
    job,
    datediff(coalesce(left_on, current_date()), hired_on) as days_employed,
    round(months_between(coalesce(left_on, current_date()), hired_on) / 12, 1) as years_employed
from {{ ref('stg_employees') }}

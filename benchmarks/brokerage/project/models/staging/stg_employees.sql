select
    employee_id,
    manager_id,
    concat_ws(' ', first_name, last_name) as full_name,
    job_code,
    branch,
    office,
    regexp_replace(phone, '[^0-9+]', '') as phone,
    hired_on
from {{ source('brokerage', 'employees') }}

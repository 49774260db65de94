select
    employee_id,
    store_id,
    manager_id,
    full_name,
    substring_index(full_name, ' ', -1) as family_name,
    job,
    hired_on,
    left_on,
    salary,
    permissions,
    permissions & 2 = 2 as may_refund,
    permissions & 8 > 0 as may_read_reports
from {{ source('retail', 'employees') }}

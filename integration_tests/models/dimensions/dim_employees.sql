select
    e.employee_id,
    e.full_name,
    e.job,
    e.store_id,
    s.store_name,
    m.full_name as manager_name,
    m.job as manager_job,
    e.hired_on,
    e.left_on,
    floor(months_between(coalesce(e.left_on, date'2024-12-31'), e.hired_on)) as months_employed,
    e.salary,
    e.may_refund
from {{ ref('stg_employees') }} e
left join {{ ref('stg_employees') }} m on m.employee_id = e.manager_id
left join {{ ref('stg_stores') }} s on s.store_id = e.store_id

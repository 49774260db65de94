select
    md5(cast(b.employee_id as string)) as broker_key,
    b.employee_id as broker_id,
    b.full_name,
    m.full_name as manager,
    b.branch,
    b.office,
    b.phone,
    floor(months_between(current_date(), b.hired_on) / 12) as years_of_service,
    current_timestamp() as loaded_at
from {{ ref('stg_employees') }} b
left join {{ ref('stg_employees') }} m on m.employee_id = b.manager_id
where b.job_code = 314

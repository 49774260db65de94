select
    e.employee_id,
    e.full_name,
    e.job,
    m.full_name as manager,
    g.full_name as manager_of_manager,
    e.salary - m.salary as salary_beside_manager
from {{ ref('stg_employees') }} e
left join {{ ref('stg_employees') }} m on m.employee_id = e.manager_id
left join {{ ref('stg_employees') }} g on g.employee_id = m.manager_id

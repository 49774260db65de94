select e.employee_id, e.full_name, e.job, e.salary
from {{ ref('stg_employees') }} e
where e.left_on is null
  and e.salary > (
    select avg(i.salary) from {{ ref('stg_employees') }} i where i.job = e.job and i.left_on is null
  )

select
    s.store_id,
    s.store_name,
    count(e.employee_id) as employees,
    sum(e.salary) as salaries,
    listagg(e.full_name, ', ') within group (order by e.hired_on) as names_by_seniority,
    s.square_meters / nullif(count(e.employee_id), 0) as square_meters_each
from {{ ref('stg_stores') }} s
left join {{ ref('stg_employees') }} e on e.store_id = s.store_id and e.left_on is null
group by s.store_id, s.store_name, s.square_meters

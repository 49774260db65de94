select
    job,
    count(*) as employees,
    avg(salary) as average_salary,
    median(salary) as median_salary,
    round(stddev(salary), 2) as deviation,
    percentile_disc(0.25) within group (order by salary) as lower_quartile,
    max(salary) - min(salary) as range_of_salaries,
    bit_or(permissions) as any_permission,
    bit_and(permissions) as permissions_of_all
from {{ ref('stg_employees') }}
where left_on is null
group by job

select
    coalesce(concat(cast(floor(year(birth_date) / 10) * 10 as string), 's'), 'unknown') as decade,
    count(*) as customers,
    avg(year(birth_date)) as average_year,
    avg(datediff(signup_date, birth_date)) as average_days_at_signup
from {{ ref('dim_customers') }}
group by coalesce(concat(cast(floor(year(birth_date) / 10) * 10 as string), 's'), 'unknown')

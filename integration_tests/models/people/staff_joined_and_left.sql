select
    coalesce(h.month_start, l.month_start) as month_start,
    coalesce(h.people, 0) as hired,
    coalesce(l.people, 0) as gone
from (
    select trunc(hired_on, 'MM') as month_start, count(*) as people
    from {{ ref('stg_employees') }}
    group by trunc(hired_on, 'MM')
) h
full outer join (
    select trunc(left_on, 'MM') as month_start, count(*) as people
    from {{ ref('stg_employees') }}
    where left_on is not null
    group by trunc(left_on, 'MM')
) l on l.month_start = h.month_start

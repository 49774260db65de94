with cohorts as (
    select * from {{ ref('customer_cohorts') }}
)
select
    c.cohort_month,
    c.months_after,
    c.customers,
    s.customers as cohort_size,
    {{ percent_of('c.customers', 's.customers', 1) }} as retention_percent
from cohorts c
join cohorts s on s.cohort_month = c.cohort_month and s.months_after = 0

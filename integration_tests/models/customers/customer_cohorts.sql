with firsts as (
    select customer_id, trunc(min(ordered_on), 'MM') as cohort_month
    from {{ ref('fct_orders') }}
    where is_revenue and customer_id is not null
    group by customer_id
)
select
    f.cohort_month,
    cast(months_between(trunc(o.ordered_on, 'MM'), f.cohort_month) as int) as months_after,
    count(distinct o.customer_id) as customers,
    sum(o.net_amount) as net_amount
from firsts f
join {{ ref('fct_orders') }} o on o.customer_id = f.customer_id
where o.is_revenue
group by f.cohort_month, cast(months_between(trunc(o.ordered_on, 'MM'), f.cohort_month) as int)

with this_month as (

    select store_id, sum(net_amount) as net_amount, count(*) as orders
    from {{ ref('fct_orders') }}
    where ordered_on >= date_trunc('month', current_date())
      and ordered_on <= current_date()
    group by store_id

),

last_month as (

    select store_id, sum(net_amount) as net_amount
    from {{ ref('fct_orders') }}
    where ordered_on >= add_months(trunc(current_date(), 'MM'), -1)
      and ordered_on <= add_months(current_date(), -1)
    group by store_id

)

select
    s.store_id,
    s.store_name,
    coalesce(t.net_amount, 0) as month_to_date,
    coalesce(l.net_amount, 0) as same_days_of_last_month,
    t.orders
from {{ ref('dim_stores') }} s
left join this_month t on t.store_id = s.store_id
left join last_month l on l.store_id = s.store_id

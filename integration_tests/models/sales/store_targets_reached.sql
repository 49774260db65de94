with sold as (
    select store_id, cast(trunc(ordered_on, 'MM') as date) as target_month, sum(net_amount) as net_amount
    from {{ ref('fct_orders') }}
    where is_revenue
    group by store_id, trunc(ordered_on, 'MM')
)
select
    store_id,
    target_month,
    t.target_amount,
    s.net_amount,
    coalesce(s.net_amount, 0) - coalesce(t.target_amount, 0) as over_target
from {{ ref('store_targets') }} t
full outer join sold s using (store_id, target_month)

with per_broker as (

    select
        b.broker_id,
        b.full_name,
        b.branch,
        b.manager,
        count(t.trade_id) as trades,
        sum(t.commission) as commission,
        sum(case when t.trade_date >= date_sub(current_date(), 30) then t.commission else 0 end) as commission_of_30_days,
        count(distinct t.customer_id) as customers
    from {{ ref('brokers') }} b
    left join {{ ref('fct_trades') }} t on t.broker_id = b.broker_id
    group by b.broker_id, b.full_name, b.branch, b.manager

)

select
    *,
    rank() over (order by commission desc nulls last) as place,
    dense_rank() over (partition by branch order by commission_of_30_days desc) as place_in_branch,
    ntile(4) over (order by commission desc) as quartile,
    commission / sum(commission) over () as share,
    current_timestamp() as loaded_at
from per_broker

-- what each customer holds, pays and trades
with trades as (

    select
        customer_id,
        count(*) as trades,
        count(distinct symbol) as symbols,
        sum(trade_amount) as turnover,
        sum(fee + commission) as charges,
        max(created_at) as last_trade_at
    from {{ ref('fct_trades') }}
    where status <> 'Canceled'
    group by customer_id

),

positions as (

    select a.customer_id, sum(h.market_value) as market_value, count(*) as positions
    from {{ ref('fct_holdings') }} h
    join {{ ref('dim_accounts') }} a on a.account_id = h.account_id and a.is_current
    group by a.customer_id

),

balances as (

    select customer_id, sum(amount) as cash
    from {{ ref('fct_cash_balances') }}
    group by customer_id

)

select
    c.customer_id,
    c.customer_name,
    c.tier,
    c.age,
    c.marketing_nameplate,
    coalesce(t.trades, 0) as trades,
    coalesce(t.symbols, 0) as symbols,
    coalesce(t.turnover, 0) as turnover,
    coalesce(t.charges, 0) as charges,
    t.last_trade_at,
    coalesce(p.market_value, 0) + coalesce(b.cash, 0) as assets,
    coalesce(p.positions, 0) as positions,
    rank() over (partition by c.country order by coalesce(t.turnover, 0) desc) as place_in_country,
    coalesce(t.last_trade_at < current_date() - interval 90 days, true) as is_dormant,
    current_timestamp() as loaded_at
from {{ ref('dim_customers') }} c
left join trades t on t.customer_id = c.customer_id
left join positions p on p.customer_id = c.customer_id
left join balances b on b.customer_id = c.customer_id
where c.is_current

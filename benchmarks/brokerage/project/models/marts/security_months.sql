with prices as (

    select
        symbol,
        date_trunc('month', market_date) as month,
        min(low_price) as low_price,
        max(high_price) as high_price,
        avg(close_price) as average_price,
        sum(volume) as volume,
        count(*) as days
    from {{ ref('daily_market') }}
    group by 1, 2

),

trades as (

    select
        symbol,
        date_trunc('month', created_at) as month,
        count(*) as trades,
        sum(if(is_sell, 0, quantity)) as bought,
        sum(if(is_sell, quantity, 0)) as sold
    from {{ ref('fct_trades') }}
    group by all

)

select
    p.symbol,
    cast(p.month as date) as month,
    p.low_price,
    p.high_price,
    p.average_price,
    p.average_price - lag(p.average_price) over (partition by p.symbol order by p.month) as change_of_average,
    p.volume,
    p.days,
    coalesce(t.trades, 0) as trades,
    coalesce(t.bought, 0) as bought,
    coalesce(t.sold, 0) as sold,
    current_timestamp() as loaded_at
from prices p
left join trades t on t.symbol = p.symbol and t.month = p.month

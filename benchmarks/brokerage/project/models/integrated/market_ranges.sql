-- the lowest and highest price of 52 weeks, and the first days on which they were reached
with windows as (

    select
        symbol,
        market_date,
        close_price,
        high_price,
        low_price,
        volume,
        min(low_price) over (partition by symbol order by market_date rows between 363 preceding and current row) as year_low,
        max(high_price) over (partition by symbol order by market_date rows between 363 preceding and current row) as year_high
    from {{ ref('daily_market') }}

),

reached as (

    select
        w.symbol,
        w.market_date,
        min(case when d.low_price = w.year_low then d.market_date end) as year_low_date,
        min(case when d.high_price = w.year_high then d.market_date end) as year_high_date
    from windows w
    join {{ ref('daily_market') }} d
        on d.symbol = w.symbol
        and d.market_date between date_sub(w.market_date, 363) and w.market_date
    group by w.symbol, w.market_date

)

select
    w.*,
    r.year_low_date,
    r.year_high_date,
    current_timestamp() as loaded_at
from windows w
left join reached r
    on r.symbol = w.symbol
    and r.market_date = w.market_date

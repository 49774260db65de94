-- the last word on each symbol and day, without what was withdrawn
with ranked as (

    select
        *,
        row_number() over (partition by symbol, market_date order by cdc_sequence desc) as rn
    from {{ ref('stg_daily_market') }}

)

select
    symbol,
    market_date,
    close_price,
    high_price,
    low_price,
    volume,
    close_price - lag(close_price) over (partition by symbol order by market_date) as price_change,
    current_timestamp() as loaded_at
from ranked
where rn = 1
  and cdc_flag <> 'D'

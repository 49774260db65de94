select
    cdc_flag,
    cdc_sequence,
    market_date,
    upper(symbol) as symbol,
    close_price,
    high_price,
    low_price,
    volume,
    current_timestamp() as loaded_at
from {{ source('brokerage', 'daily_market') }}
where market_date >= '2015-01-01'

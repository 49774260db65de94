with source as (

    select * from {{ source('brokerage', 'trades') }}

)

select
    cdc_flag,
    cdc_sequence,
    trade_id,
    trade_ts,
    status_id,
    trade_type_id,
    is_cash,
    upper(symbol) as symbol,
    quantity,
    bid_price,
    account_id,
    trim(executed_by) as executed_by,
    trade_price,
    coalesce(fee, 0) as fee,
    coalesce(commission, 0) as commission,
    coalesce(tax, 0) as tax,
    current_timestamp() as loaded_at
from source

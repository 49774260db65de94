select
    trade_type_id,
    trade_type_name,
    is_sell,
    is_market,
    if(is_sell, -1, 1) as direction
from {{ source('brokerage', 'trade_types') }}

select
    *,
    quantity_after - quantity_before as quantity_change
from {{ source('brokerage', 'holding_changes') }}

select
    cdc_flag,
    cdc_sequence,
    account_id,
    transaction_ts,
    cast(transaction_ts as date) as transaction_date,
    amount,
    trim(description) as description,
    now() as loaded_at
from {{ source('brokerage', 'cash_transactions') }}

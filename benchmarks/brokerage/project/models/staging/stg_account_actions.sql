select
    cdc_sequence,
    action as action_type,
    action_ts,
    account_id,
    customer_id,
    broker_id,
    nullif(account_name, '') as account_name,
    tax_status,
    current_timestamp() as loaded_at
from {{ source('brokerage', 'account_actions') }}
where account_id is not null

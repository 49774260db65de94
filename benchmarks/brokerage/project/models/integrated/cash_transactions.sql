with ranked as (

    select
        *,
        rank() over (partition by account_id, transaction_ts, description order by cdc_sequence desc) as version
    from {{ ref('stg_cash_transactions') }}

)

select distinct
    account_id,
    transaction_ts,
    transaction_date,
    amount,
    description
from ranked
where version = 1
  and cdc_flag <> 'D'

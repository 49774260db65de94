-- one row per version of an account
with filled as (

    select
        account_id,
        coalesce(
            customer_id,
            last_value(customer_id, true) over (
                partition by account_id order by action_ts rows between unbounded preceding and 1 preceding
            )
        ) as customer_id,
        coalesce(
            broker_id,
            last_value(broker_id, true) over (
                partition by account_id order by action_ts rows between unbounded preceding and 1 preceding
            )
        ) as broker_id,
        coalesce(
            account_name,
            last_value(account_name, true) over (
                partition by account_id order by action_ts rows between unbounded preceding and 1 preceding
            )
        ) as account_name,
        coalesce(
            tax_status,
            last_value(tax_status, true) over (
                partition by account_id order by action_ts rows between unbounded preceding and 1 preceding
            )
        ) as tax_status,
        action_type,
        action_ts,
        lag(action_ts) over (partition by account_id order by action_ts desc) as next_action_ts
    from {{ ref('stg_account_actions') }}

)

select
    md5(concat_ws('|', account_id, action_ts)) as account_key,
    account_id,
    customer_id,
    broker_id,
    account_name,
    tax_status,
    case action_type when 'CLOSEACCT' then 'Closed' else 'Active' end as status,
    action_ts as effective_date,
    ifnull(timestampadd(millisecond, -1, next_action_ts), timestamp '9999-12-31 23:59:59.999') as end_date,
    if(next_action_ts is null, true, false) as is_current,
    current_timestamp() as loaded_at
from filled

-- orders of an account that follow each other within half an hour
with ordered as (

    select
        account_id,
        trade_id,
        created_at,
        trade_amount,
        lag(created_at) over (partition by account_id order by created_at) as previous_at
    from {{ ref('trades') }}

),

marked as (

    select
        *,
        case when previous_at is null or created_at > previous_at + interval 30 minutes then 1 else 0 end as is_start
    from ordered

),

numbered as (

    select
        *,
        sum(is_start) over (
            partition by account_id order by created_at rows between unbounded preceding and current row
        ) as session_number
    from marked

)

select
    account_id,
    session_number,
    min(created_at) as started_at,
    max(created_at) as ended_at,
    count(*) as trades,
    sum(trade_amount) as trade_amount,
    current_timestamp() as loaded_at
from numbered
group by account_id, session_number

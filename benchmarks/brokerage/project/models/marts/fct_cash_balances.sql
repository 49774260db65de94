with per_day as (

    select
        account_id,
        transaction_date,
        sum(amount) as amount,
        count(*) as transactions
    from {{ ref('cash_transactions') }}
    group by account_id, transaction_date

)

select
    p.account_id,
    a.customer_id,
    a.account_key,
    p.transaction_date,
    p.amount,
    p.transactions,
    sum(p.amount) over (partition by p.account_id order by p.transaction_date) as balance,
    current_timestamp() as loaded_at
from per_day p
left join {{ ref('dim_accounts') }} a
    on a.account_id = p.account_id
    and a.is_current

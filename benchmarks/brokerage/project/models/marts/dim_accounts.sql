-- accounts with the version of their customer that was valid when theirs began
select
    a.account_key,
    a.account_id,
    a.account_name,
    a.tax_status,
    a.status,
    c.customer_key,
    a.customer_id,
    b.broker_key,
    a.broker_id,
    b.full_name as broker_name,
    a.effective_date,
    a.end_date,
    a.is_current,
    current_timestamp() as loaded_at
from {{ ref('accounts') }} a
left join {{ ref('customers') }} c
    on c.customer_id = a.customer_id
    and a.effective_date >= c.effective_date
    and a.effective_date < c.end_date
left join {{ ref('brokers') }} b
    on b.broker_id = a.broker_id

select account, sum(amount) as balance, count(amount) as entries
from (
    select account, amount from {{ ref('ledger') }}
    union all
    select account, null from values ('receivables'), ('revenue'), ('returns'), ('vouchers') as accounts(account)
) entries
group by account

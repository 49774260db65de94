-- what happened in the last 30 days
select
    'trade' as kind,
    trade_date as activity_date,
    customer_id,
    symbol,
    trade_amount as amount
from {{ ref('fct_trades') }}
where trade_date >= current_date() - interval 30 days

union all

select
    'cash' as kind,
    transaction_date,
    customer_id,
    cast(null as string),
    amount
from {{ ref('fct_cash_balances') }}
where transaction_date >= current_date() - interval 30 days

union all

select
    'watch',
    to_date(placed_at),
    customer_id,
    symbol,
    cast(0 as decimal(12, 2))
from {{ ref('fct_watches') }}
where to_date(placed_at) >= current_date() - interval 30 days

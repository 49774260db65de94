-- trades with the versions of account and security that were valid when they were created
select
    t.trade_id,
    a.account_key,
    a.customer_key,
    a.broker_key,
    s.security_key,
    s.company_key,
    t.symbol,
    t.account_id,
    a.customer_id,
    a.broker_id,
    t.created_at,
    to_date(t.created_at) as trade_date,
    d.fiscal_year,
    d.fiscal_quarter,
    d.is_holiday or d.is_weekend as is_day_off,
    h.part_of_day,
    t.closed_at,
    t.status,
    t.trade_type,
    t.is_sell,
    t.quantity,
    t.bid_price,
    t.trade_price,
    t.trade_amount,
    t.fee,
    t.commission,
    t.tax,
    current_timestamp() as loaded_at
from {{ ref('trades') }} t
left join {{ ref('dim_accounts') }} a
    on a.account_id = t.account_id
    and t.created_at between a.effective_date and a.end_date
left join {{ ref('securities') }} s
    on s.symbol = t.symbol
    and t.created_at >= s.effective_date
    and t.created_at < s.end_date
left join {{ ref('stg_calendar') }} d on d.calendar_date = to_date(t.created_at)
left join {{ ref('stg_times_of_day') }} h on h.minute_of_day = hour(t.created_at) * 60 + minute(t.created_at)

{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'keys': {'retail.exchange_rates': ['currency_code', 'rate_date']}}}) }}
-- days without a rate have the last one before
with days as (

    select c.currency_code, d.calendar_date
    from {{ ref('stg_currencies') }} c
    cross join {{ ref('calendar') }} d
    where c.currency_code in ('GBP', 'CHF') and d.calendar_date < date'2024-07-01'

)

select
    d.currency_code,
    d.calendar_date,
    r.rate as fixed_rate,
    last_value(r.rate, true) over (
        partition by d.currency_code order by d.calendar_date
        rows between unbounded preceding and current row
    ) as rate
from days d
left join {{ source('retail', 'exchange_rates') }} r
    on r.currency_code = d.currency_code and r.rate_date = d.calendar_date

{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'keys': {'retail.exchange_rates': ['currency_code', 'rate_date']}}}) }}
select
    currency_code,
    rate_date,
    to_timestamp(concat(rate_date, ' 16:00:00')) as fixed_at,
    rate,
    lag(rate) over (partition by currency_code order by rate_date) as previous_rate,
    rate / lag(rate) over (partition by currency_code order by rate_date) - 1 as change
from {{ source('retail', 'exchange_rates') }}

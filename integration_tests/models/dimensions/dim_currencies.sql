{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'keys': {'retail.exchange_rates': ['currency_code', 'rate_date']}}}) }}
with rates as (
    select
        currency_code,
        rate_date,
        rate,
        row_number() over (partition by currency_code order by rate_date desc) as recency
    from {{ ref('stg_exchange_rates') }}
)
select
    c.currency_code,
    c.currency_name,
    c.minor_units,
    c.is_reporting_currency,
    coalesce(r.rate, 1) as latest_rate,
    r.rate_date as latest_rate_date
from {{ ref('stg_currencies') }} c
left join rates r on r.currency_code = c.currency_code and r.recency = 1

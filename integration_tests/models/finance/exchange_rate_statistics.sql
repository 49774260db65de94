{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'keys': {'retail.exchange_rates': ['currency_code', 'rate_date']}}}) }}
select
    currency_code,
    trunc(rate_date, 'MM') as month_start,
    avg(rate) as average_rate,
    min(rate) as lowest_rate,
    max(rate) as highest_rate,
    round(stddev_samp(cast(rate as double)), 6) as deviation,
    median(rate) as median_rate,
    percentile(rate, 0.25) as lower_quartile
from {{ source('retail', 'exchange_rates') }}
group by currency_code, trunc(rate_date, 'MM')

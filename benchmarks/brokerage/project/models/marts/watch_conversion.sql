select
    symbol,
    count(*) as watches,
    count(first_trade_at) as converted,
    sum(case when is_removed then 1 else 0 end) as removed,
    round(count(first_trade_at) / count(*), 4) as conversion_rate,
    avg(days_watched) as average_days_watched,
    current_timestamp() as loaded_at
from {{ ref('fct_watches') }}
group by symbol
having count(*) > 1

select
    extract(hour from occurred_at) as hour_of_day,
    weekday(occurred_at) as day_of_week,
    count(*) as events,
    sum(case when event_type = 'purchase' then 1 else 0 end) as purchases,
    round(stddev_pop(seconds), 4) as deviation_of_seconds
from {{ ref('stg_web_events') }}
group by all

select
    hour(ordered_at) as hour_of_day,
    channel,
    count(*) as orders,
    sum(units) as units,
    avg(line_count) as average_lines
from {{ ref('fct_orders') }}
group by all

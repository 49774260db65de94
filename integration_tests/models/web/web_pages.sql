select
    page,
    count(*) as events,
    count(distinct visitor_id) as visitors,
    sum(seconds) as seconds,
    avg(seconds) filter (where device = 'phone') as seconds_on_phone,
    max(seconds) as longest,
    any_value(device, true) as a_device
from {{ ref('stg_web_events') }}
group by page

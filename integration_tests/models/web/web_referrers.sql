select
    parse_url(referrer, 'HOST') as host,
    coalesce(regexp_extract(parse_url(referrer, 'QUERY'), 'utm_campaign=([a-z]+)', 1), 'none') as campaign,
    count(*) as events
from {{ ref('stg_web_events') }}
where referrer like any ('http://%', 'https://%')
group by 1, 2

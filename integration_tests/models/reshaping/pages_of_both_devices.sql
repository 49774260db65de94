select page, event_type from {{ ref('stg_web_events') }} where device = 'phone'
intersect all
select page, event_type from {{ ref('stg_web_events') }} where device = 'desktop'

select page, device from {{ ref('stg_web_events') }}
except all
select page, device from {{ ref('stg_web_events') }} where event_type = 'purchase'

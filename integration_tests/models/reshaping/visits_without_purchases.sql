select visitor_id, occurred_on from {{ ref('stg_web_events') }} where event_type = 'view'
except all
select visitor_id, occurred_on from {{ ref('stg_web_events') }} where event_type = 'purchase'

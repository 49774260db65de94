select
    visitor_id,
    occurred_at,
    str_to_map(substring_index(page, '?', -1), '&', '=')['q'] as searched,
    lower(coalesce(str_to_map(substring_index(page, '?', -1), '&', '=')['sort'], 'none')) as sorted_by
from {{ source('retail', 'web_events') }}
where page like '%?%=%'

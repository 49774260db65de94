with pairs as (
    select customer_id, str_to_map(preferences, ',', ':') as preferences
    from {{ source('retail', 'customers') }}
    where preferences like '%:%'
)
select
    customer_id,
    array_join(array_sort(map_keys(preferences)), ', ') as names,
    size(map_filter(preferences, (name, value) -> value = 'yes')) as accepted,
    try_element_at(preferences, 'theme') as theme
from pairs

select
    s.store_id,
    s.store_name,
    s.city,
    s.country_code,
    c.region,
    s.opened_on,
    s.closed_on,
    s.closed_on is null as is_open,
    s.square_meters
from {{ source('retail', 'stores') }} s
left join {{ ref('countries') }} c using (country_code)

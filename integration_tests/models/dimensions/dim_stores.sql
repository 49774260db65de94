select store_id, store_name, city, country_code, region, square_meters, is_open
from {{ ref('stg_stores') }}
union all
values (0, 'web shop', null, 'XX', 'online', 0, true)

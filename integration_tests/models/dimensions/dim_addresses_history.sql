select
    address_id,
    customer_id,
    kind,
    city,
    country_code,
    valid_from,
    valid_to,
    lag(city) over moves as previous_city,
    lead(valid_from) over moves as next_valid_from,
    row_number() over moves as move_number,
    datediff(valid_to, valid_from) as days_valid
from {{ ref('stg_addresses') }}
window moves as (partition by customer_id, kind order by valid_from, address_id)

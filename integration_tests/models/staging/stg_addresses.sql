select
    address_id,
    customer_id,
    kind,
    concat_ws(', ', street, city) as address_line,
    city,
    lpad(postal_code, 5, '0') as postal_code,
    upper(country_code) as country_code,
    valid_from,
    coalesce(valid_to, date'9999-12-31') as valid_to,
    valid_to is null as is_current
from {{ source('retail', 'addresses') }}

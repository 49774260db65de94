select
    currency_code,
    rate,
    rate_date as valid_from,
    lead(rate_date, 1, date'9999-12-31') over (partition by currency_code order by rate_date) as valid_to,
    lead(rate_date) over (partition by currency_code order by rate_date) is null as is_current
from {{ source('retail', 'exchange_rates') }}

select
    tax_id,
    tax_name,
    rate,
    left(tax_id, 2) as country
from {{ source('brokerage', 'tax_rates') }}

select
    product_id,
    version_number,
    valid_from,
    unit_price,
    lag(unit_price) over versions as previous_price,
    unit_price - lag(unit_price) over versions as price_change,
    first_value(unit_price) over versions as first_price
from {{ ref('dim_products_history') }}
window versions as (partition by product_id order by valid_from, product_version_key)

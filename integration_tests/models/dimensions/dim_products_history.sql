select
    dbt_scd_id as product_version_key,
    product_id,
    sku,
    unit_price,
    unit_cost,
    category_id,
    discontinued as is_discontinued,
    row_number() over (partition by product_id order by dbt_valid_from, dbt_scd_id) as version_number,
    dbt_valid_from as valid_from,
    coalesce(dbt_valid_to, timestamp'9999-12-31 00:00:00') as valid_to
from {{ ref('products_snapshot') }}

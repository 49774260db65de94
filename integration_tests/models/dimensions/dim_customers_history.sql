select
    dbt_scd_id as customer_version_key,
    customer_id,
    segment,
    email,
    marketing_consent,
    -- the first version that was seen had held before
    if(lag(dbt_scd_id) over versions is null, timestamp'1900-01-01 00:00:00', dbt_valid_from) as valid_from,
    coalesce(dbt_valid_to, timestamp'9999-12-31 00:00:00') as valid_to,
    dbt_valid_to is null as is_current
from {{ ref('customers_snapshot') }}
window versions as (partition by customer_id order by dbt_valid_from, dbt_scd_id)

with ranked as (
    select
        *,
        row_number() over (partition by customer_id, kind order by valid_from desc, address_id desc) as recency
    from {{ ref('stg_addresses') }}
    where is_current
)
select customer_id, kind, address_id, address_line, city, postal_code, country_code, valid_from
from ranked
where recency = 1

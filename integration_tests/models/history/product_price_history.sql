-- a version begins where the price differs from the one before
with changes as (

    select
        product_id,
        price,
        changed_at,
        lag(price) over (partition by product_id order by changed_at) as previous_price,
        row_number() over (partition by product_id order by changed_at) as change_number
    from {{ ref('stg_price_log') }}

),

versions as (

    select product_id, price, changed_at
    from changes
    where change_number = 1 or price is distinct from previous_price

)

select
    product_id,
    price,
    changed_at as valid_from,
    coalesce(lead(changed_at) over (partition by product_id order by changed_at), timestamp'9999-12-31 00:00:00') as valid_to,
    lead(changed_at) over (partition by product_id order by changed_at) is null as is_current
from versions

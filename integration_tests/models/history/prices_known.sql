select
    product_id,
    changed_at,
    price,
    coalesce(
        price,
        last_value(price) ignore nulls over (
            partition by product_id order by changed_at rows between unbounded preceding and 1 preceding
        )
    ) as known_price
from {{ ref('stg_price_log') }}

select
    s.store_id,
    p.product_id,
    coalesce(h.on_hand, 0) as on_hand,
    coalesce(h.on_hand, 0) <= 0 as is_missing
from {{ ref('stg_stores') }} s
cross join {{ ref('stg_products') }} p
left join {{ ref('stock_on_hand') }} h on h.store_id = s.store_id and h.product_id = p.product_id
where s.is_open and not p.is_discontinued

select
    i.order_item_key,
    i.order_id,
    i.product_id,
    h.product_version_key,
    i.quantity,
    i.unit_price as sold_at,
    h.unit_price as list_price,
    (h.unit_price - i.unit_price) * i.quantity as given_away
from {{ ref('stg_order_items') }} i
join {{ ref('stg_orders') }} o on o.order_id = i.order_id
join {{ ref('dim_products_history') }} h
    on h.product_id = i.product_id
    and o.ordered_at >= h.valid_from
    and o.ordered_at < h.valid_to

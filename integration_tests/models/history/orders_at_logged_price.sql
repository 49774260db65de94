-- each line with the version of the price that held when it was ordered
select
    i.order_item_key,
    i.product_id,
    o.ordered_at,
    i.unit_price,
    h.price as logged_price,
    h.valid_from as price_valid_from
from {{ ref('stg_order_items') }} i
join {{ ref('stg_orders') }} o on o.order_id = i.order_id
left join {{ ref('product_price_history') }} h
    on h.product_id = i.product_id
    and o.ordered_at >= h.valid_from
    and o.ordered_at < h.valid_to

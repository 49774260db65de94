select
    i.order_item_key,
    i.order_id,
    i.discount,
    p.promotion_id,
    p.season_code,
    p.kind,
    timestamp(concat_ws(' ', p.ends_on, '23:59:59')) as ends_at
from {{ ref('stg_order_items') }} i
join {{ ref('stg_orders') }} o on o.order_id = i.order_id
join {{ ref('stg_products') }} d on d.product_id = i.product_id
join {{ ref('stg_promotions') }} p
    on p.promotion_id = o.promotion_id
    and o.ordered_on between p.starts_on and p.ends_on
    and (p.category_id is null or p.category_id = d.category_id)
where i.discount > 0

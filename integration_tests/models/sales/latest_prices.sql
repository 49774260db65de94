select product_id, ordered_on, order_id, unit_price
from (
    select
        i.product_id,
        o.ordered_on,
        i.order_id,
        i.unit_price,
        row_number() over (partition by i.product_id order by o.ordered_at desc, i.order_id desc, i.line_number) as recency
    from {{ ref('stg_order_items') }} i
    join {{ ref('stg_orders') }} o on o.order_id = i.order_id
) sold
where recency = 1

select
    r.return_id,
    r.order_id,
    r.line_number,
    i.product_id,
    r.quantity,
    i.quantity as sold_quantity,
    r.quantity = i.quantity as is_complete,
    r.reason,
    r.refund,
    r.returned_on,
    cast(r.returned_on || ' 12:00:00' as timestamp) as returned_at,
    datediff(r.returned_on, o.ordered_on) as days_after_order
from {{ ref('stg_returns') }} r
join {{ ref('stg_order_items') }} i using (order_id, line_number)
join {{ ref('stg_orders') }} o using (order_id)

select
    {{ surrogate_key(['s.shipment_id', 's.carrier']) }} as shipment_key,
    {{ surrogate_key(['o.order_number', 'o.order_id']) }} as order_key,
    s.shipped_at,
    s.delivered_at - s.shipped_at < interval 2 days as was_fast
from {{ ref('stg_shipments') }} s
join {{ ref('stg_orders') }} o on o.order_id = s.order_id

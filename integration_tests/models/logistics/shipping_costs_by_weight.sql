select
    s.carrier,
    count(distinct s.shipment_id) as shipments,
    sum(i.quantity * p.weight_kg) as weight_kg,
    max(s.cost) as highest_cost
from {{ ref('stg_shipments') }} s
join {{ ref('stg_orders') }} o on o.order_id = s.order_id
join {{ ref('stg_order_items') }} i on i.order_id = o.order_id
join {{ ref('stg_products') }} p on p.product_id = i.product_id
group by s.carrier

select
    shipment_id,
    order_id,
    row_number() over (partition by order_id order by shipped_at, shipment_id) as part,
    count(*) over (partition by order_id) as parts,
    sum(cost) over (partition by order_id) as cost_of_order
from {{ ref('stg_shipments') }}

{{ config(materialized='view') }}
select
    shipment_id,
    order_id,
    upper(carrier) as carrier,
    shipped_at,
    delivered_at,
    cost,
    scans,
    timestampdiff(HOUR, shipped_at, delivered_at) as hours_in_transit
from {{ source('retail', 'shipments') }}

select
    s.shipment_id,
    s.order_id,
    s.carrier,
    a.country_code as destination_country,
    s.shipped_at,
    s.delivered_at,
    s.hours_in_transit,
    s.cost,
    size(s.scans) as scan_count,
    aggregate(s.scans, 0, (total, scan) -> total + scan.minutes) as minutes_scanned,
    array_join(transform(s.scans, scan -> scan.place), ' > ') as route,
    exists(s.scans, scan -> scan.place = 'customs') as passed_customs
from {{ ref('stg_shipments') }} s
join {{ ref('stg_orders') }} o on o.order_id = s.order_id
left join {{ ref('stg_addresses') }} a on a.address_id = o.shipping_address_id

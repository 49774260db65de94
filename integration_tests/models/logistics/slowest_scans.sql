select
    shipment_id,
    carrier,
    array_max(transform(scans, scan -> scan.minutes)) as longest_stop,
    size(filter(scans, scan -> scan.minutes > 60)) as long_stops,
    forall(scans, scan -> scan.minutes >= 0) as is_plausible,
    element_at(transform(scans, scan -> scan.place), -1) as last_place
from {{ ref('stg_shipments') }}
where size(scans) > 0

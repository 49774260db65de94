select s.shipment_id, s.carrier, i.place, i.minutes
from {{ ref('stg_shipments') }} s
lateral view inline(s.scans) i as place, minutes

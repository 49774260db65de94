select i.place, count(*) as scans, sum(i.minutes) as minutes
from {{ ref('stg_shipments') }} s
lateral view inline(s.scans) i as place, minutes
group by i.place

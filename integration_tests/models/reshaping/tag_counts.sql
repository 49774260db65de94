select t.tag, count(*) as products, min(t.position) as first_position
from {{ ref('stg_products') }} p
lateral view posexplode(p.tags) t as position, tag
group by t.tag

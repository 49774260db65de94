select p.product_id, t.tag
from {{ ref('stg_products') }} p
lateral view outer explode(p.tags) t as tag

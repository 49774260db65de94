select product_id, sku, explode(tags) as tag
from {{ ref('stg_products') }}

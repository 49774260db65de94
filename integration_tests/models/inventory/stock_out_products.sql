select product_id, sku, product_name
from {{ ref('dim_products') }}
where product_id in (select product_id from {{ ref('stg_order_items') }})
  and product_id not in (select product_id from {{ ref('stock_on_hand') }} where on_hand > 0)

select product_id from {{ ref('stg_products') }}
except
select product_id from {{ ref('stg_order_items') }}
except
select product_id from {{ ref('stg_inventory_movements') }}
except
select product_id from {{ ref('stg_web_events') }} where product_id is not null

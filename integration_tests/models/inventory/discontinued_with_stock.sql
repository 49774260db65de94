select product_id, 'in stock' as reason
from {{ ref('stock_on_hand') }}
where on_hand > 0 and product_id in (select product_id from {{ ref('stg_products') }} where is_discontinued)
union
select i.product_id, 'sold'
from {{ ref('fct_order_items') }} i, {{ ref('stg_products') }} p
where p.product_id = i.product_id and p.is_discontinued

select p.product_id, p.product_name, p.unit_price
from {{ ref('stg_products') }} p
where array_contains(p.tags, 'new')
   or exists (select 1 from {{ ref('fct_returns') }} r where r.product_id = p.product_id)

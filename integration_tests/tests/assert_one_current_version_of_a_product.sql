-- The versions of a product do not overlap: one at most is open.
select product_id, count(*) as open_versions
from {{ ref('dim_products_history') }}
where valid_to = timestamp'9999-12-31 00:00:00'
group by product_id
having count(*) > 1

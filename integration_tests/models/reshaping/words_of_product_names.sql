select word, count(distinct product_id) as products
from (select product_id, explode(split(lower(product_name), ' ')) as word from {{ ref('stg_products') }}) as words
group by word

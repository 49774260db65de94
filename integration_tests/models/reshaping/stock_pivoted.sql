select *
from (select product_id, kind, quantity from {{ ref('stg_inventory_movements') }})
pivot (sum(quantity) for kind in ('receipt', 'sale', 'loss'))

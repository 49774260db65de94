select u.measure, count(*) as products, max(u.value) as largest
from (select product_id, unit_price, unit_cost from {{ ref('stg_products') }})
    unpivot include nulls (value for measure in (unit_price as price, unit_cost as cost)) as u
group by u.measure

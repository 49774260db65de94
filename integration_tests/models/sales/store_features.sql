select
    s.store_id,
    s.store_name,
    exists (select 1 from {{ ref('stg_employees') }} e where e.store_id = s.store_id and e.may_refund) as takes_returns,
    exists (select 1 from {{ ref('fct_orders') }} o where o.store_id = s.store_id) as has_sales,
    (select count(*) from {{ ref('stg_inventory_movements') }} m where m.store_id = s.store_id and m.kind = 'loss') as losses
from {{ ref('stg_stores') }} s

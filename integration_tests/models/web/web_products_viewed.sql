select distinct e.customer_id, e.product_id
from {{ ref('stg_web_events') }} e
where e.event_type = 'view'
  and e.customer_id is not null
  and e.product_id is not null
  and not exists (
    select 1 from {{ ref('fct_order_items') }} i
    where i.customer_id = e.customer_id and i.product_id = e.product_id
  )

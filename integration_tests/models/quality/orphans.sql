select 'order without customer' as problem, cast(o.order_id as string) as id
from {{ ref('stg_orders') }} o
where o.customer_id is not null
  and not exists (select 1 from {{ ref('stg_customers') }} c where c.customer_id = o.customer_id)
union all
select 'line without order', i.order_item_key
from {{ ref('stg_order_items') }} i
left anti join {{ ref('stg_orders') }} o on o.order_id = i.order_id
union all
select 'payment without order', cast(payment_id as string)
from {{ ref('stg_payments') }}
where order_id not in (select order_id from {{ ref('stg_orders') }})

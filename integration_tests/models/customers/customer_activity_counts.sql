select
    c.customer_id,
    (select count(*) from {{ ref('stg_orders') }} o where o.customer_id = c.customer_id) as orders,
    (select count(*) from {{ ref('stg_web_events') }} e where e.customer_id = c.customer_id) as events,
    (select max(o.ordered_on) from {{ ref('stg_orders') }} o where o.customer_id = c.customer_id) as last_order_on
from {{ ref('stg_customers') }} c

select
    c.customer_id,
    exists (select 1 from {{ ref('fct_orders') }} o where o.customer_id = c.customer_id and o.channel = 'web') as bought_online,
    exists (select 1 from {{ ref('stg_web_events') }} e where e.customer_id = c.customer_id) as visited_the_site,
    not exists (select 1 from {{ ref('stg_addresses') }} a where a.customer_id = c.customer_id and a.is_current) as lacks_address
from {{ ref('stg_customers') }} c

select customer_id from {{ ref('fct_orders') }} where channel = 'web' and customer_id is not null
except
select customer_id from {{ ref('fct_orders') }} where channel = 'store'

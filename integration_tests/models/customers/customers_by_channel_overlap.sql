select customer_id from {{ ref('fct_orders') }} where channel = 'web'
intersect
select customer_id from {{ ref('fct_orders') }} where channel = 'store'

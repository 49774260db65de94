select customer_id from {{ ref('fct_orders') }} where ordered_on < date'2024-03-01'
intersect
select customer_id from {{ ref('fct_orders') }} where ordered_on between date'2024-03-01' and date'2024-05-31'

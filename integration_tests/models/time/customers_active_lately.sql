select c.customer_id, c.full_name, c.segment
from {{ ref('dim_customers') }} c
where exists (
    select 1
    from {{ ref('stg_orders') }} o
    where o.customer_id = c.customer_id
      and o.ordered_on > current_date() - interval 45 days
)

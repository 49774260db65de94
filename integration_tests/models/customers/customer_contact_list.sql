select c.customer_id, c.full_name, c.email
from {{ ref('dim_customers') }} c
where c.email is not null
  and (
    c.may_be_mailed
    or exists (
        select 1 from {{ ref('fct_orders') }} o
        where o.customer_id = c.customer_id and o.ordered_on >= date'2024-06-01'
    )
  )

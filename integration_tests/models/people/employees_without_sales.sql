select employee_id, full_name, store_id
from {{ ref('stg_employees') }}
where job = 'sales'
  and employee_id not in (select employee_id from {{ ref('stg_orders') }} where employee_id is not null)

select payment_id, order_id, customer_id, amount, risk
from {{ ref('fct_payments') }}
where risk_class = 'high'
   or amount > (select 5 * avg(amount) from {{ ref('fct_payments') }})

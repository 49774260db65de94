select
    method,
    date_format(paid_at, 'yyyy-MM') as month,
    count(*) as payments,
    sum(amount) as amount,
    avg(attempts) as average_attempts,
    avg(amount) as average_amount,
    avg(risk) as average_risk
from {{ ref('fct_payments') }}
group by method, date_format(paid_at, 'yyyy-MM')

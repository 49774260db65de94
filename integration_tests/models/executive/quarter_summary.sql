select
    d.fiscal_quarter,
    count(distinct o.customer_id) as customers,
    sum(o.net_amount) as net_amount,
    sum(o.net_amount) filter (where o.channel = 'web') as net_amount_web,
    {{ percent_of("sum(o.net_amount) filter (where o.channel = 'web')", 'sum(o.net_amount)', 1) }} as web_percent
from {{ ref('fct_orders') }} o
join {{ ref('dim_dates') }} d on d.calendar_date = o.ordered_on
group by d.fiscal_quarter

select
    d.calendar_date,
    d.fiscal_quarter,
    d.is_holiday,
    count(o.order_id) as orders,
    coalesce(sum(o.net_amount), 0) as net_amount
from {{ ref('dim_dates') }} d
left join {{ ref('fct_orders') }} o on o.ordered_on = d.calendar_date and o.is_revenue
group by d.calendar_date, d.fiscal_quarter, d.is_holiday

select
    d.weekday_name,
    d.is_weekend,
    count(*) as orders,
    avg(o.units) as average_units,
    avg(o.net_amount) as average_amount,
    min(o.net_amount) as smallest_amount,
    max(o.net_amount) as largest_amount
from {{ ref('fct_orders') }} o
join {{ ref('dim_dates') }} d on d.calendar_date = o.ordered_on
where o.is_revenue
group by d.weekday_name, d.is_weekend

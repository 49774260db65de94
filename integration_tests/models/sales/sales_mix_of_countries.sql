with amounts as (
    select c.country_code, trunc(o.ordered_on, 'MM') as month_start, sum(o.net_amount) as net_amount
    from {{ ref('fct_orders') }} o
    join {{ ref('dim_customers') }} c on c.customer_id = o.customer_id
    group by c.country_code, trunc(o.ordered_on, 'MM')
)
select
    month_start,
    country_code,
    net_amount,
    {{ percent_of('net_amount', 'sum(net_amount) over (partition by month_start)') }} as share_percent,
    percent_rank() over (partition by month_start order by net_amount) as percent_rank
from amounts

select s.region, trunc(o.ordered_on, 'MM') as month_start, sum(o.net_amount) as net_amount, grouping_id() as level
from {{ ref('fct_orders') }} o
join {{ ref('dim_stores') }} s on s.store_id = o.store_id
group by rollup (s.region, trunc(o.ordered_on, 'MM'))

select region, sum(o.net_amount) as net_amount, count(*) as orders
from {{ ref('fct_orders') }} o
join {{ ref('dim_stores') }} s on s.store_id = o.store_id
group by region
union all
select 'all regions', sum(net_amount), count(*)
from {{ ref('fct_orders') }}

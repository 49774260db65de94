select
    s.region,
    s.store_id,
    s.store_name,
    sum(o.net_amount) as net_amount,
    rank() over (partition by s.region order by sum(o.net_amount) desc) as rank_in_region,
    dense_rank() over (order by count(*) desc) as rank_by_orders
from {{ ref('dim_stores') }} s
join {{ ref('fct_orders') }} o on o.store_id = s.store_id
where o.is_revenue
group by s.region, s.store_id, s.store_name

with sold as (
    select product_id, sum(net_amount) as net_amount
    from {{ ref('fct_order_items') }}
    group by product_id
),
cumulated as (
    select
        product_id,
        net_amount,
        sum(net_amount) over (order by net_amount desc, product_id rows between unbounded preceding and current row) as up_to_here,
        sum(net_amount) over () as whole
    from sold
)
select
    product_id,
    net_amount,
    {{ percent_of('up_to_here', 'whole') }} as cumulated_percent,
    case when up_to_here <= 0.8 * whole then 'A' when up_to_here <= 0.95 * whole then 'B' else 'C' end as abc_class
from cumulated

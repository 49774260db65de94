with sold as (
    select i.product_id, sum(i.net_amount) as net_amount, sum(i.quantity) as units
    from {{ ref('fct_order_items') }} i
    group by i.product_id
),
ranked as (
    select
        p.department,
        p.product_id,
        p.product_name,
        s.net_amount,
        s.units,
        row_number() over (partition by p.department order by s.net_amount desc, p.product_id) as position
    from sold s
    join {{ ref('dim_products') }} p on p.product_id = s.product_id
)
select department, position, product_id, product_name, net_amount, units
from ranked
where position <= 3

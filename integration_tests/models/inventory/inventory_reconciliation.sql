with sold as (
    select i.product_id, sum(i.quantity) as sold_units
    from {{ ref('fct_order_items') }} i
    where i.channel = 'store'
    group by i.product_id
),
moved as (
    select product_id, -sum(quantity) as moved_units
    from {{ ref('stg_inventory_movements') }}
    where kind = 'sale'
    group by product_id
)
select
    product_id,
    coalesce(sold_units, 0) as sold_units,
    coalesce(moved_units, 0) as moved_units,
    coalesce(sold_units, 0) - coalesce(moved_units, 0) as difference
from sold
full outer join moved using (product_id)

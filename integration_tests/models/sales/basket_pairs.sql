{{ config(meta={'idivm': {'strategy': 'tuple'}}) }}
select
    a.product_id,
    b.product_id as other_product_id,
    count(distinct a.order_id) as orders_together,
    sum(least(a.quantity, b.quantity)) as units_together
from {{ ref('stg_order_items') }} a
join {{ ref('stg_order_items') }} b on b.order_id = a.order_id and b.product_id > a.product_id
group by a.product_id, b.product_id
having count(distinct a.order_id) > 1

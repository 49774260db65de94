{{ config(partition_by='channel') }}
select
    i.order_item_key,
    i.order_id,
    i.line_number,
    o.customer_id,
    o.ordered_on,
    o.channel,
    o.status,
    i.product_id,
    p.category_id,
    p.supplier_id,
    i.quantity,
    i.net_amount,
    i.quantity * p.unit_cost as cost_amount,
    i.net_amount - i.quantity * p.unit_cost as margin_amount
from {{ ref('stg_order_items') }} i
join {{ ref('stg_orders') }} o on o.order_id = i.order_id
join {{ ref('stg_products') }} p on p.product_id = i.product_id

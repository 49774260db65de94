{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'keys': {'retail.order_items': ['order_id', 'line_number']}}}) }}
select
    {{ surrogate_key(['order_id', 'line_number']) }} as order_item_key,
    order_id,
    line_number,
    product_id,
    quantity,
    unit_price,
    coalesce(discount, 0) as discount,
    tax_rate,
    cast(quantity * unit_price as decimal(12, 2)) as gross_amount,
    cast(quantity * unit_price - coalesce(discount, 0) as decimal(12, 2)) as net_amount
from {{ source('retail', 'order_items') }}
where quantity <> 0

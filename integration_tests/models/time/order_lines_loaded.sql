SELECT
    i.order_item_key,
    i.order_id,
    p.product_name,
    i.quantity,
    i.net_amount,
    {{ audit_columns('shop.order_items') }}
FROM {{ ref('stg_order_items') }} i
LEFT JOIN {{ ref('stg_products') }} p ON p.product_id = i.product_id

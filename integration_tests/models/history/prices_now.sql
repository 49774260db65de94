SELECT t.product_id, p.sku, t.price, t.changed_at AS price_since
FROM (
    SELECT product_id, price, changed_at, ROW_NUMBER() OVER (PARTITION BY product_id ORDER BY changed_at DESC) AS rn
    FROM {{ source('retail', 'price_log') }}
    WHERE price IS NOT NULL
) t
LEFT JOIN {{ ref('stg_products') }} p ON p.product_id = t.product_id
WHERE t.rn = 1

with source as (
    select * from {{ source('retail', 'products') }}
),
parsed as (
    select
        *,
        get_json_object(attributes, '$.brand') as brand,
        get_json_object(attributes, '$.colour') as colour,
        try_cast(get_json_object(attributes, '$.size.height_cm') as int) as height_cm
    from source
)
select
    product_id,
    sku,
    split_part(sku, '-', 1) as sku_family,
    product_name,
    category_id,
    supplier_id,
    unit_price,
    unit_cost,
    unit_price - unit_cost as unit_margin,
    weight_kg,
    tags,
    array_contains(tags, 'eco') as is_eco,
    coalesce(brand, 'no brand') as brand,
    lower(colour) as colour,
    height_cm,
    discontinued as is_discontinued,
    updated_at
from parsed

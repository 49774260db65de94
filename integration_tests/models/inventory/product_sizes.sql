select
    product_id,
    sku,
    weight_kg,
    round(weight_kg * 2.20462, 2) as weight_lb,
    height_cm,
    case when height_cm is null then 'unknown' when height_cm > 100 or weight_kg > 20 then 'bulky' else 'parcel' end as size_class,
    to_json(named_struct('sku', sku, 'kg', weight_kg)) as label_json
from {{ ref('stg_products') }}

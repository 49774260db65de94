-- a hub as data vaults have them
select distinct
    {{ surrogate_key(['sku']) }} as product_hub_key,
    sku,
    {{ audit_columns('shop.products') }}
from {{ ref('stg_products') }}
where sku is not null

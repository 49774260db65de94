select
    store_id,
    bit_xor(movement_id * 31 + quantity) as checksum,
    bit_xor(product_id) as checksum_of_products,
    count(*) as movements
from {{ ref('stg_inventory_movements') }}
group by store_id

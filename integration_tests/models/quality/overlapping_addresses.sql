select
    a.customer_id,
    a.kind,
    a.address_id,
    b.address_id as other_address_id,
    greatest(a.valid_from, b.valid_from) as both_from
from {{ ref('stg_addresses') }} a
join {{ ref('stg_addresses') }} b
    on b.customer_id = a.customer_id
    and b.kind = a.kind
    and b.address_id > a.address_id
    and b.valid_from < a.valid_to
    and a.valid_from < b.valid_to

select
    {{ surrogate_key(['a.customer_id', 'a.address_id']) }} as customer_address_key,
    {{ surrogate_key(['a.customer_id']) }} as customer_key,
    a.address_id,
    a.kind,
    a.is_current
from {{ ref('stg_addresses') }} a
left semi join {{ ref('stg_customers') }} c on c.customer_id = a.customer_id

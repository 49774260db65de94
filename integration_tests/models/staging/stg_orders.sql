with source as (
    select * from {{ source('retail', 'orders') }}
)
select
    order_id,
    order_number,
    customer_id,
    store_id,
    employee_id,
    promotion_id,
    coalesce(currency_code, 'EUR') as currency_code,
    lower(status) as status,
    channel,
    ordered_at,
    cast(ordered_at as date) as ordered_on,
    shipping_address_id,
    coalesce(shipping_fee, 0) as shipping_fee,
    nullif(trim(notes), '') as notes
from source
where lower(status) not in ('draft', 'test')

with source as (

    select * from {{ source('retail', 'price_log') }}

)

select product_id, price, changed_at
from source

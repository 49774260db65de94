with source as (

    select * from {{ source('brokerage', 'prospects') }}

),

keyed as (

    select
        *,
        upper(concat_ws('|', trim(last_name), trim(first_name), trim(address), replace(postal_code, ' ', ''))) as match_key
    from source

)

select
    *,
    current_timestamp() as loaded_at
from keyed

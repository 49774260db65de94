with source as (

    select * from {{ source('brokerage', 'customer_actions') }}

),

renamed as (

    select
        cdc_sequence,
        upper(trim(action)) as action_type,
        action_ts,
        customer_id,
        nullif(trim(tax_number), '') as tax_number,
        upper(gender) as gender,
        tier,
        date_of_birth,
        initcap(last_name) as last_name,
        initcap(first_name) as first_name,
        address,
        upper(replace(postal_code, ' ', '')) as postal_code,
        city,
        country,
        lower(email) as email,
        local_tax_id,
        national_tax_id
    from source

)

select
    *,
    current_timestamp() as loaded_at
from renamed

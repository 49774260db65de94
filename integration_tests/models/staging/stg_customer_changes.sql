with source as (

    select * from {{ source('retail', 'customer_changes') }}

),

renamed as (

    select
        customer_id,
        operation,
        changed_at,
        nullif(lower(trim(email)), '') as email,
        segment,
        marketing_consent as consent,
        city
    from source

)

select * from renamed

with source as (
    select * from {{ source('retail', 'customers') }}
),
renamed as (
    select
        customer_id,
        nullif(lower(trim(email)), '') as email,
        initcap(trim(first_name)) as first_name,
        initcap(trim(last_name)) as last_name,
        nullif(concat_ws(' ', initcap(trim(first_name)), initcap(trim(last_name))), '') as full_name,
        substring_index(lower(trim(email)), '@', -1) as email_domain,
        birth_date,
        coalesce(segment, 'unknown') as segment,
        signup_date,
        referred_by,
        try_element_at(str_to_map(preferences, ',', ':'), 'newsletter') = 'yes' as wants_newsletter,
        coalesce(try_element_at(str_to_map(preferences, ',', ':'), 'language'), 'en') as language,
        marketing_consent,
        updated_at
    from source
)
select * from renamed

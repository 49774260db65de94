with people as (

    select concat('C', customer_id) as party_key, full_name, 'customer' as party_type, current_timestamp() as loaded_at
    from {{ ref('stg_customers') }}

    union all

    select concat('E', employee_id), full_name, 'employee', current_timestamp()
    from {{ ref('stg_employees') }}

)

select * from people

with ages as (

    select
        customer_id,
        birth_date,
        cast(floor(months_between(current_date(), birth_date) / 12) as int) as age,
        datediff(current_date(), signup_date) as days_as_customer
    from {{ ref('stg_customers') }}

)

select
    *,
    case
        when age is null then 'unknown'
        when age < 30 then 'under 30'
        when age < 50 then '30 to 49'
        else '50 and older'
    end as age_group
from ages

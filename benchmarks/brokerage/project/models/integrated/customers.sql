-- one row per version of a customer. An update has the changed values only, so that the others are the last known ones
with actions as (

    select *
    from (
        select *, row_number() over (partition by customer_id, action_ts order by cdc_sequence desc) as copy
        from {{ ref('stg_customer_actions') }}
    )
    where copy = 1

)

select
    md5(concat_ws('|', customer_id, action_ts)) as customer_key,
    customer_id,
    last_value(tax_number) ignore nulls over (partition by customer_id order by action_ts) as tax_number,
    last_value(gender) ignore nulls over (partition by customer_id order by action_ts) as gender,
    last_value(tier) ignore nulls over (partition by customer_id order by action_ts) as tier,
    last_value(date_of_birth) ignore nulls over (partition by customer_id order by action_ts) as date_of_birth,
    last_value(last_name) ignore nulls over (partition by customer_id order by action_ts) as last_name,
    last_value(first_name) ignore nulls over (partition by customer_id order by action_ts) as first_name,
    last_value(address) ignore nulls over (partition by customer_id order by action_ts) as address,
    last_value(postal_code) ignore nulls over (partition by customer_id order by action_ts) as postal_code,
    last_value(city) ignore nulls over (partition by customer_id order by action_ts) as city,
    last_value(country) ignore nulls over (partition by customer_id order by action_ts) as country,
    last_value(email) ignore nulls over (partition by customer_id order by action_ts) as email,
    last_value(local_tax_id) ignore nulls over (partition by customer_id order by action_ts) as local_tax_id,
    last_value(national_tax_id) ignore nulls over (partition by customer_id order by action_ts) as national_tax_id,
    case when action_type = 'INACT' then 'Inactive' else 'Active' end as status,
    action_ts as effective_date,
    lead(action_ts, 1, timestamp '9999-12-31 00:00:00') over (partition by customer_id order by action_ts) as end_date,
    row_number() over (partition by customer_id order by action_ts desc) = 1 as is_current,
    current_timestamp() as loaded_at
from actions

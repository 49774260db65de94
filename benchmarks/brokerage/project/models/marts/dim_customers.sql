with customers as (

    select * from {{ ref('customers') }}

),

rates as (

    select * from {{ ref('stg_tax_rates') }}

),

prospects as (

    select
        customer_id,
        max(credit_rating) as credit_rating,
        max(net_worth) as net_worth,
        min(marketing_nameplate) as marketing_nameplate
    from {{ ref('prospects') }}
    where customer_id is not null
    group by customer_id

)

select
    c.customer_key,
    c.customer_id,
    c.tax_number,
    concat(c.first_name, ' ', c.last_name) as customer_name,
    c.gender,
    c.tier,
    c.date_of_birth,
    cast(datediff(current_date(), c.date_of_birth) / 365.25 as int) as age,
    c.city,
    c.country,
    c.email,
    c.status,
    n.tax_name as national_tax_name,
    n.rate as national_tax_rate,
    l.tax_name as local_tax_name,
    l.rate as local_tax_rate,
    p.credit_rating,
    p.net_worth,
    p.marketing_nameplate,
    c.effective_date,
    c.end_date,
    c.is_current,
    current_timestamp() as loaded_at
from customers c
left join rates n on n.tax_id = c.national_tax_id
left join rates l on l.tax_id = c.local_tax_id
left join prospects p on p.customer_id = c.customer_id

{{ config(persist_docs={'relation': true, 'columns': true}) }}
with customers as (
    select * from {{ ref('stg_customers') }}
),
addresses as (
    select * from {{ ref('int_customer_addresses_current') }}
),
countries as (
    select * from {{ ref('countries') }}
)
select
    {{ surrogate_key(['c.customer_id']) }} as customer_key,
    c.customer_id,
    c.full_name,
    c.email,
    c.email_domain,
    c.segment,
    c.signup_date,
    c.birth_date,
    c.referred_by,
    c.wants_newsletter and c.marketing_consent as may_be_mailed,
    b.city as billing_city,
    b.country_code as billing_country,
    s.city as shipping_city,
    coalesce(s.country_code, b.country_code, 'XX') as country_code,
    n.region
from customers c
left join addresses b on b.customer_id = c.customer_id and b.kind = 'billing'
left join addresses s on s.customer_id = c.customer_id and s.kind = 'shipping'
left join countries n on n.country_code = coalesce(s.country_code, b.country_code, 'XX')

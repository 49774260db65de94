select lower(email) as address, 'customer' as kind from {{ ref('stg_customers') }} where email is not null
union
select contact_email, 'supplier' from {{ ref('stg_suppliers') }} where contact_email is not null
union
select concat(translate(lower(full_name), ' ', '.'), '@shop.example'), 'employee' from {{ ref('stg_employees') }}

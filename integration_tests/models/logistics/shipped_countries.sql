select destination_country as country_code from {{ ref('fct_shipments') }} where destination_country is not null
intersect
select country_code from {{ ref('dim_customers') }}

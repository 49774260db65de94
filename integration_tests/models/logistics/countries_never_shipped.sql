select country_code from {{ ref('countries') }}
minus
select destination_country from {{ ref('fct_shipments') }} where destination_country is not null

{{ config(materialized='view') }}
select currency_code, currency_name, minor_units, currency_code = 'EUR' as is_reporting_currency
from {{ source('retail', 'currencies') }}

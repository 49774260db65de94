{{ config(materialized='ephemeral') }}
select currency_code, rate_date, rate
from {{ source('retail', 'exchange_rates') }}
where rate > 0

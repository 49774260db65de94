{{ config(materialized='ephemeral') }}
select distinct customer_id
from {{ ref('stg_orders') }}
where status <> 'cancelled' and customer_id is not null

{{ config(materialized='ephemeral') }}
select
    order_id,
    count(*) as line_count,
    sum(quantity) as units,
    sum(gross_amount) as gross_amount,
    sum(discount) as discount_amount,
    sum(net_amount) as net_amount,
    sum(cast(round(net_amount * tax_rate, 2) as decimal(14, 2))) as tax_amount
from {{ ref('stg_order_items') }}
group by order_id

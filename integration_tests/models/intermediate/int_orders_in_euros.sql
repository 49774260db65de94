{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'keys': {'retail.exchange_rates': ['currency_code', 'rate_date']}}}) }}
with orders as (
    select * from {{ ref('stg_orders') }}
),
amounts as (
    select * from {{ ref('int_order_amounts') }}
),
rates as (
    select * from {{ ref('stg_exchange_rates') }}
)
select
    o.order_id,
    o.customer_id,
    o.status,
    o.ordered_on,
    o.currency_code,
    coalesce(r.rate, 1) as rate,
    a.units,
    a.net_amount,
    {{ in_euros('a.net_amount', 'coalesce(r.rate, 1)') }} as net_amount_eur,
    {{ in_euros('a.tax_amount', 'coalesce(r.rate, 1)') }} as tax_amount_eur
from orders o
join amounts a on a.order_id = o.order_id
left join rates r on r.currency_code = o.currency_code and r.rate_date = o.ordered_on

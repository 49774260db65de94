select
    (select count(*) from {{ ref('dim_customers') }}) as customers,
    (select count(*) from {{ ref('fct_orders') }} where is_revenue) as orders,
    (select sum(net_amount) from {{ ref('fct_orders') }} where is_revenue) as net_amount,
    (select sum(refund) from {{ ref('stg_returns') }}) as refund_amount,
    (select count(distinct visitor_id) from {{ ref('stg_web_events') }}) as visitors

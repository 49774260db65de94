with placed as (
    select
        order_id,
        customer_id,
        store_id,
        channel,
        ordered_on,
        net_amount,
        sum(net_amount) over (partition by customer_id) as net_amount_of_customer,
        count(*) over (partition by store_id) as orders_of_store,
        rank() over (partition by channel order by net_amount desc) as rank_in_channel,
        max(net_amount) over (partition by ordered_on) as largest_of_day,
        row_number() over (partition by customer_id, channel order by ordered_at, order_id) as number_in_channel
    from {{ ref('fct_orders') }}
    where is_revenue
)
select
    p.*,
    p.net_amount / nullif(p.net_amount_of_customer, 0) as share_of_customer,
    (select sum(r.refund) from {{ ref('stg_returns') }} r where r.order_id = p.order_id) as refund_amount,
    (select count(*) from {{ ref('stg_payments') }} y where y.order_id = p.order_id and y.status = 'settled') as payments
from placed p
where exists (select 1 from {{ ref('stg_shipments') }} h where h.order_id = p.order_id)

select
    h.customer_version_key,
    h.customer_id,
    h.segment,
    count(o.order_id) as orders,
    sum(o.net_amount) as net_amount
from {{ ref('dim_customers_history') }} h
left join {{ ref('fct_orders') }} o
    on o.customer_id = h.customer_id
    and o.ordered_at >= h.valid_from
    and o.ordered_at < h.valid_to
group by h.customer_version_key, h.customer_id, h.segment

select
    coalesce(o.order_id, p.order_id) as order_id,
    o.status,
    o.net_amount + o.tax_amount + o.shipping_fee as due_amount,
    p.paid_amount,
    case
        when p.order_id is null then 'not paid'
        when o.order_id is null then 'no order'
        when p.paid_amount is distinct from o.net_amount + o.tax_amount + o.shipping_fee then 'different'
        else 'settled'
    end as result
from {{ ref('fct_orders') }} o
full outer join {{ ref('int_payments_by_order') }} p on p.order_id = o.order_id

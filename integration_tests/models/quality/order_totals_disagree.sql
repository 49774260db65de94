with due as (
    select order_id, net_amount + tax_amount + shipping_fee as due_amount
    from {{ ref('fct_orders') }}
    where is_revenue
)
select d.order_id, d.due_amount, p.paid_amount, p.paid_amount - d.due_amount as difference
from due d
join {{ ref('int_payments_by_order') }} p on p.order_id = d.order_id
where abs(p.paid_amount - d.due_amount) >= 0.01

select
    i.product_id,
    sum(i.quantity) as sold_units,
    sum(coalesce(r.returned_units, 0)) as returned_units,
    {{ percent_of('sum(coalesce(r.returned_units, 0))', 'sum(i.quantity)', 1) }} as return_percent
from {{ ref('stg_order_items') }} i
left join {{ ref('int_returns_by_line') }} r on r.order_id = i.order_id and r.line_number = i.line_number
group by i.product_id
having sum(i.quantity) > 0

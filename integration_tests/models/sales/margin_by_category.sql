select
    c.department,
    c.category_path,
    c.margin_target,
    sum(i.net_amount) as net_amount,
    sum(i.margin_amount) as margin_amount,
    {{ percent_of('sum(i.margin_amount)', 'sum(i.net_amount)') }} as margin_percent
from {{ ref('fct_order_items') }} i
join {{ ref('int_category_paths') }} c on c.category_id = i.category_id
group by 1, 2, 3
having sum(i.net_amount) > 0

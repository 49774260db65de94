select
    p.department,
    count(*) as lines,
    sum(s.given_away) as given_away,
    max((s.list_price - s.sold_at) / s.list_price) as largest_reduction
from {{ ref('fct_sales_at_list_price') }} s
join {{ ref('dim_products') }} p on p.product_id = s.product_id
where s.sold_at < s.list_price and s.list_price > 0
group by p.department

select
    p.promotion_id,
    p.season_code,
    count(u.order_item_key) as lines,
    count(distinct u.order_id) as orders,
    coalesce(sum(u.discount), 0) as discount_amount
from {{ ref('dim_promotions') }} p
left join {{ ref('fct_promotion_use') }} u on u.promotion_id = p.promotion_id
group by p.promotion_id, p.season_code

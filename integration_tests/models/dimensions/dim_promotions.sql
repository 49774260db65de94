select
    p.promotion_id,
    p.season_code,
    p.kind,
    p.amount,
    p.starts_on,
    p.ends_on,
    p.days,
    coalesce(c.category_path, 'all categories') as applies_to
from {{ ref('int_category_paths') }} c
right join {{ ref('stg_promotions') }} p on p.category_id = c.category_id

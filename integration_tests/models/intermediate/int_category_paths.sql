select
    c.category_id,
    c.category_name,
    coalesce(g.category_name, p.category_name, c.category_name) as department,
    concat_ws(' > ', g.category_name, p.category_name, c.category_name) as category_path,
    case when p.category_id is null then 1 when g.category_id is null then 2 else 3 end as depth,
    coalesce(c.margin_target, p.margin_target, g.margin_target) as margin_target
from {{ ref('stg_categories') }} c
left join {{ ref('stg_categories') }} p on p.category_id = c.parent_category_id
left join {{ ref('stg_categories') }} g on g.category_id = p.parent_category_id

with source as (
    select * from {{ source('retail', 'categories') }}
)
select
    category_id,
    parent_category_id,
    category_name,
    margin_target,
    parent_category_id is null as is_top_level
from source

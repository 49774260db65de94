select
    product_id,
    array_size(tags) as tag_count,
    array_join(sort_array(tags), ', ') as tag_list,
    filter(tags, tag -> tag like 'season%') as seasons,
    exists(tags, tag -> tag in ('new', 'sale')) as is_promoted,
    named_struct('eco', array_contains(tags, 'eco'), 'gift', array_contains(tags, 'gift')) as labels
from {{ ref('stg_products') }}
where array_size(tags) > 0

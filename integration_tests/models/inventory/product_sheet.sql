select
    product_id,
    map_from_arrays(array('brand', 'colour'), array(brand, colour))['colour'] as colour,
    from_json(to_json(named_struct('a', height_cm)), 'a int').a as height_cm,
    concat_ws(' / ', slice(sort_array(tags), 1, 2)) as first_tags,
    zip_with(tags, transform(tags, tag -> length(tag)), (tag, letters) -> concat(tag, ':', letters)) as tags_with_lengths
from {{ ref('stg_products') }}

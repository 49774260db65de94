select
    promotion_id,
    season_code,
    starts_on,
    ends_on,
    applies_to
from {{ ref('dim_promotions') }}
where current_date() between starts_on and ends_on

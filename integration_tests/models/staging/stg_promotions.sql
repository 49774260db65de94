select
    promotion_id,
    code,
    concat(upper(code), '/', date_format(starts_on, 'yyyy-MM')) as season_code,
    kind,
    amount,
    case kind when 'percent' then amount / 100 end as rate,
    category_id,
    starts_on,
    ends_on,
    datediff(ends_on, starts_on) + 1 as days
from {{ source('retail', 'promotions') }}

select
    minute_of_day,
    hour_of_day,
    minute_of_day % 60 as minute_of_hour,
    is_market_open,
    case
        when hour_of_day < 6 then 'night'
        when hour_of_day < 12 then 'morning'
        when hour_of_day < 18 then 'afternoon'
        else 'evening'
    end as part_of_day
from {{ source('brokerage', 'times_of_day') }}

select
    {{ date_key('calendar_date') }} as date_key,
    calendar_date,
    iso_week,
    fiscal_quarter,
    is_holiday,
    year(calendar_date) as calendar_year,
    month(calendar_date) as calendar_month,
    date_format(calendar_date, 'EEEE') as weekday_name,
    dayofweek(calendar_date) in (1, 7) as is_weekend,
    date_trunc('MONTH', calendar_date) as month_start,
    last_day(calendar_date) as month_end
from {{ ref('calendar') }}

select
    calendar_date,
    is_holiday,
    fiscal_year,
    fiscal_quarter,
    date_trunc('month', calendar_date) as first_of_month,
    dayofweek(calendar_date) in (1, 7) as is_weekend,
    date_format(calendar_date, 'EEEE') as day_name
from {{ source('brokerage', 'calendar') }}

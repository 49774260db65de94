select
    f.year,
    f.month,
    f.day,
    f.carrier,
    f.flight,
    f.origin,
    f.dep_delay,
    w.wind_speed,
    w.precip,
    w.visib
from {{ source('nycflights', 'flights') }} f
join {{ source('nycflights', 'weather') }} w on w.origin = f.origin and w.time_hour = f.time_hour
where w.wind_speed > 30 or w.precip > 0.3 or w.visib < 0.5

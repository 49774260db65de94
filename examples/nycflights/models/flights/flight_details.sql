select
    f.year,
    f.month,
    f.day,
    f.carrier,
    f.flight,
    f.origin,
    f.dest,
    f.distance,
    f.arr_delay,
    f.dep_delay - f.arr_delay as minutes_made_up,
    round(60 * f.distance / f.air_time) as mph,
    l.name as airline,
    a.name as destination,
    concat(p.manufacturer, ' ', p.model) as plane,
    p.seats
from {{ source('nycflights', 'flights') }} f
join {{ source('nycflights', 'airlines') }} l on l.carrier = f.carrier
join {{ source('nycflights', 'airports') }} a on a.faa = f.dest
join {{ source('nycflights', 'planes') }} p on p.tailnum = f.tailnum
where f.arr_time is not null
  and p.engines >= 2

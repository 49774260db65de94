select
    l.name as airline,
    a.name as destination,
    f.month,
    f.distance,
    f.air_time,
    f.arr_delay
from {{ source('nycflights', 'flights') }} f
join {{ source('nycflights', 'airlines') }} l on l.carrier = f.carrier
join {{ source('nycflights', 'airports') }} a on a.faa = f.dest
where f.distance >= 2400

select
    f.carrier,
    p.manufacturer,
    count(*) as flights,
    count(f.dep_time) as departed,
    sum(f.distance) as miles,
    avg(f.arr_delay) as mean_arr_delay
from {{ source('nycflights', 'flights') }} f
join {{ source('nycflights', 'planes') }} p on p.tailnum = f.tailnum
group by f.carrier, p.manufacturer

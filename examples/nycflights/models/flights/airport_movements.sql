select year, month, day, carrier, flight, origin, 'departure' as movement, origin as airport, dep_time as at, dep_delay as delay
from {{ source('nycflights', 'flights') }}
where dep_time is not null
union all
select year, month, day, carrier, flight, origin, 'arrival' as movement, dest as airport, arr_time as at, arr_delay as delay
from {{ source('nycflights', 'flights') }}
where arr_time is not null

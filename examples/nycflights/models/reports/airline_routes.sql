select
    airline,
    destination,
    count(*) as flights,
    sum(seats) as seats,
    sum(distance) as miles,
    avg(arr_delay) as mean_arr_delay
from {{ ref('flight_details') }}
group by airline, destination

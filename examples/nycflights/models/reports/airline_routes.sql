select
    airline,
    destination,
    count(*) as flights,
    sum(seat_miles) as seat_miles,
    avg(arr_delay) as mean_arr_delay
from {{ ref('flight_details') }}
group by airline, destination

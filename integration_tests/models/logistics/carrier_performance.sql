select
    carrier,
    destination_country,
    count(*) as shipments,
    count_if(delivered_at is null) as under_way,
    count(*) filter (where hours_in_transit > 72) as late,
    sum(cost) as cost,
    avg(cast(hours_in_transit as int)) as average_hours,
    round(stddev(cost), 4) as deviation_of_cost,
    size(collect_set(route)) as routes,
    max_by(route, cost) as dearest_route
from {{ ref('fct_shipments') }}
group by carrier, destination_country

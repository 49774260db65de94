with promised as (
    select * from values ('DE', 48), ('FR', 72), ('GB', 96) as t(country_code, hours)
)
select
    s.shipment_id,
    s.order_id,
    s.carrier,
    s.destination_country,
    s.hours_in_transit - p.hours as hours_late
from {{ ref('fct_shipments') }} s
join promised p on p.country_code = s.destination_country
where s.hours_in_transit > p.hours

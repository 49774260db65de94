select
    o.ordered_on,
    o.channel,
    count(*) as orders,
    sum(o.units) as units,
    sum(o.net_amount) as net_amount,
    sum(o.tax_amount) as tax_amount
from {{ ref('fct_orders') }} o
where o.is_revenue
group by o.ordered_on, o.channel

select
    orders_class,
    avg(average_amount) as average_amount,
    max(average_units) as most_units,
    count(*) as customers
from (
    select
        customer_id,
        case when count(*) > 3 then 'many' when count(*) > 1 then 'some' else 'one' end as orders_class,
        avg(net_amount) as average_amount,
        avg(units) as average_units
    from {{ ref('fct_orders') }}
    where customer_id is not null
    group by customer_id
) per_customer
group by orders_class

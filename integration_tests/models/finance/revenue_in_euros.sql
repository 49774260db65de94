select
    trunc(ordered_on, 'MM') as month_start,
    currency_code,
    sum(net_amount_eur) as net_amount_eur,
    sum(tax_amount_eur) as tax_amount_eur,
    sum(net_amount_eur + tax_amount_eur) as gross_amount_eur,
    count(*) as orders
from {{ ref('int_orders_in_euros') }}
where status not in ('cancelled', 'pending')
group by trunc(ordered_on, 'MM'), currency_code

select order_id, kind, amount
from (
    select order_id, cast(net_amount as decimal(14, 2)) as net, cast(tax_amount as decimal(14, 2)) as tax
    from {{ ref('fct_orders') }}
)
unpivot (amount for kind in (net, tax as value_added_tax))

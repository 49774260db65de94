with largest as (
    select return_id, order_id, refund
    from {{ ref('stg_returns') }}
    order by refund desc nulls last, return_id
    limit 5
)
select l.return_id, o.channel, l.refund
from largest l
join {{ ref('stg_orders') }} o on o.order_id = l.order_id

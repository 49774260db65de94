with reasons as (
    select reason, count(*) as returns, sum(refund) as refund_amount, avg(quantity) as average_quantity
    from {{ ref('stg_returns') }}
    group by reason
)
select
    reason,
    returns,
    refund_amount,
    average_quantity,
    {{ percent_of('refund_amount', 'sum(refund_amount) over ()') }} as share_percent
from reasons

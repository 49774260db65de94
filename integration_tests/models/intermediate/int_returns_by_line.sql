select
    order_id,
    line_number,
    sum(quantity) as returned_units,
    sum(refund) as refund_amount,
    count(distinct reason) as reasons,
    min(returned_on) as first_returned_on
from {{ ref('stg_returns') }}
group by order_id, line_number

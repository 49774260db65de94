select *
from (select trunc(returned_on, 'MM') as month_start, reason, quantity from {{ ref('stg_returns') }})
pivot (count(quantity) for reason in ('damaged', 'wrong item' as wrong_item, 'other'))

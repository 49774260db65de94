-- Each document books the same amount on both sides.
select document, sum(amount) as difference
from {{ ref('ledger') }}
group by document
having sum(amount) <> 0

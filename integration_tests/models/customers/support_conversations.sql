-- tickets of one customer that follow each other within three days
select
    customer_id,
    ticket_id,
    opened_at,
    sum(if(datediff(opened_at, previous_at) <= 3, 0, 1)) over (partition by customer_id order by opened_at) as conversation
from (
    select
        customer_id,
        ticket_id,
        opened_at,
        lag(opened_at) over (partition by customer_id order by opened_at) as previous_at
    from {{ ref('stg_support_tickets') }}
)

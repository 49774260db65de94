with tickets as (
    select * from {{ ref('stg_support_tickets') }}
),

newest as (
    select
        tickets.*,
        row_number() over (partition by customer_id order by opened_on desc) as row_num
    from tickets
)

select customer_id, ticket_id, subject, opened_on, is_open
from newest
where row_num = 1

select
    ticket_id,
    customer_id,
    coalesce(nullif(trim(subject), ''), 'no subject') as subject,
    priority,
    opened_at,
    to_date(opened_at) as opened_on,
    due_on,
    closed_at,
    closed_at is null as is_open
from {{ source('retail', 'support_tickets') }}

select
    ticket_id,
    customer_id,
    priority,
    due_on,
    case
        when not is_open then 'closed'
        when due_on < current_date() then 'overdue'
        when due_on <= date_add(current_date(), 2) then 'due soon'
        else 'open'
    end as ticket_state,
    greatest(datediff(current_date(), due_on), 0) as days_late
from {{ ref('stg_support_tickets') }}

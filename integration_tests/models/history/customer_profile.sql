select
    customer_id,
    max_by(email, changed_at) filter (where email is not null) as email,
    max_by(segment, changed_at) filter (where segment is not null) as segment,
    max_by(city, changed_at) filter (where city is not null) as city,
    max(changed_at) as changed_at,
    count(*) as changes
from {{ ref('stg_customer_changes') }}
group by customer_id

select
    a.customer_id,
    b.customer_id as other_customer_id,
    a.full_name,
    b.full_name as other_name,
    levenshtein(a.full_name, b.full_name) as distance
from {{ ref('stg_customers') }} a
join {{ ref('stg_customers') }} b
    on b.birth_date = a.birth_date
    and soundex(b.last_name) = soundex(a.last_name)
    and b.customer_id > a.customer_id

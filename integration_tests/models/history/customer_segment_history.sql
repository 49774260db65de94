select
    customer_id,
    segment,
    {{ validity('changed_at', 'versions') }},
    row_number() over versions as version_number
from {{ ref('stg_customer_changes') }}
where segment is not null
window versions as (partition by customer_id order by changed_at)

with ranked as (

    select
        customer_id,
        operation,
        changed_at,
        email,
        segment,
        row_number() over (partition by customer_id order by changed_at desc) as rn
    from {{ ref('stg_customer_changes') }}

)

select * except (rn)
from ranked
where rn = 1 and operation <> 'delete'

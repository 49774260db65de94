with steps as (

    select
        order_id,
        status,
        changed_at,
        lag(changed_at) over (partition by order_id order by changed_at) as previous_at
    from {{ ref('stg_order_status_log') }}

),

flagged as (

    select *, case when timestampdiff(MINUTE, previous_at, changed_at) < 30 then 0 else 1 end as is_start
    from steps

),

numbered as (

    select
        order_id,
        status,
        changed_at,
        sum(is_start) over (partition by order_id order by changed_at rows unbounded preceding) as handling
    from flagged

)

select order_id, handling, min(changed_at) as began_at, max(changed_at) as ended_at, count(*) as steps
from numbered
group by order_id, handling

{{ config(tags=['audited']) }}

select
    ordered_on,
    store_id,
    count(*) as orders,
    sum(net_amount) as net_amount,
    {{ dbt.current_timestamp() }} as dbt_updated_at
from {{ ref('fct_orders') }}
group by ordered_on, store_id

select order_id as document, 'receivables' as account, net_amount as amount
from {{ ref('fct_orders') }} where is_revenue
union all
select order_id, 'revenue', -net_amount
from {{ ref('fct_orders') }} where is_revenue
union all
select order_id, 'returns', refund from {{ ref('stg_returns') }}
union all
select order_id, 'receivables', -refund from {{ ref('stg_returns') }}

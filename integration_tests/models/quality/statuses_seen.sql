select status, 'listed' as found from {{ ref('order_statuses') }}
union
select status, 'used' from {{ ref('stg_orders') }}

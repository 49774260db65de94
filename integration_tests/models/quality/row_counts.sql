select 'customers' as relation, count(*) as row_count from {{ ref('stg_customers') }}
union all
select 'orders', count(*) from {{ ref('stg_orders') }}
union all
select 'web events', count(*) from {{ ref('stg_web_events') }}
union all
select 'expected days', 366

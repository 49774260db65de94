{{ config(meta={'idivm': {'strategy': var('idivm_strategy'), 'caches': ['months']}}) }}
with months as (
    select trunc(ordered_on, 'MM') as month_start, sum(net_amount) as net_amount, count(*) as days_with_sales
    from {{ ref('sales_daily') }}
    group by trunc(ordered_on, 'MM')
)
select
    m.month_start,
    m.net_amount,
    p.net_amount as previous_amount,
    m.net_amount - p.net_amount as change_amount,
    {{ percent_of('(m.net_amount - p.net_amount)', 'p.net_amount') }} as change_percent
from months m
left join months p on p.month_start = add_months(m.month_start, -1)

select month_start, ordered_on, net_amount
from (
    select
        trunc(ordered_on, 'MM') as month_start,
        ordered_on,
        net_amount,
        rank() over (partition by trunc(ordered_on, 'MM') order by net_amount desc) as position
    from (
        select ordered_on, sum(net_amount) as net_amount
        from {{ ref('sales_daily') }}
        group by ordered_on
    ) days
) ranked
where position = 1

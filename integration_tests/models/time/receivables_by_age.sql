with open_items as (

    select
        order_id,
        net_amount - paid_amount as open_amount,
        datediff(current_date(), ordered_on) as age
    from {{ ref('fct_orders') }}
    where is_revenue and paid_amount < net_amount

)

select
    case when age <= 30 then '0-30' when age <= 60 then '31-60' when age <= 90 then '61-90' else 'over 90' end as age_class,
    count(*) as orders,
    sum(open_amount) as open_amount
from open_items
group by 1

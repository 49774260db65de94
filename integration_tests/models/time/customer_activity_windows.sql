-- orders of the last 7, 30 and 90 days, side by side
select
    customer_id,
    {%- for days in [7, 30, 90] %}
    count(case when ordered_on >= current_date() - interval {{ days }} days then order_id end) as orders_{{ days }}d,
    {%- endfor %}
    sum(case when ordered_on >= {{ days_ago(90) }} then net_amount else 0 end) as net_amount_90d
from {{ ref('fct_orders') }}
where customer_id is not null
group by customer_id

-- gains of sales by customer and year, and what they will cost
with sales as (

    select
        t.customer_id,
        t.customer_key,
        year(t.created_at) as tax_year,
        h.quantity_before - h.quantity_after as quantity,
        (t.trade_price - h.purchase_price) * (h.quantity_before - h.quantity_after) as gain
    from {{ ref('holdings') }} h
    join {{ ref('fct_trades') }} t on t.trade_id = h.trade_id
    where t.is_sell

),

per_year as (

    select customer_id, tax_year, sum(gain) as gain, count(*) as sales
    from sales
    group by customer_id, tax_year

)

select
    y.customer_id,
    c.customer_name,
    y.tax_year,
    y.sales,
    y.gain,
    greatest(y.gain, 0) * (coalesce(c.national_tax_rate, 0) + coalesce(c.local_tax_rate, 0)) as estimated_tax,
    current_timestamp() as loaded_at
from per_year y
join {{ ref('dim_customers') }} c on c.customer_id = y.customer_id and c.is_current

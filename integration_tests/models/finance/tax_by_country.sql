select
    c.country_code,
    n.vat_rate,
    sum(o.tax_amount) as charged,
    sum(o.net_amount * n.vat_rate) as by_rate_of_country
from {{ ref('fct_orders') }} o
join {{ ref('dim_customers') }} c on c.customer_id = o.customer_id
join {{ ref('countries') }} n on n.country_code = c.country_code
where o.is_revenue
group by c.country_code, n.vat_rate

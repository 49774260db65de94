select
    o.order_id, o.order_number, o.channel, o.ordered_on, o.shipping_fee,
    c.full_name as customer_name, c.segment, c.region as customer_region,
    f.full_name as referrer_name, f.segment as referrer_segment,
    s.store_name, s.city as store_city, sc.country_name as store_country, sc.vat_rate as store_vat_rate,
    e.full_name as employee_name, e.job as employee_job, m.full_name as manager_name, m.store_id as manager_store_id,
    p.season_code, p.kind as promotion_kind, pc.category_path as promoted_category, pc.margin_target,
    u.currency_name, u.minor_units, t.status_group, t.step as status_step,
    d.fiscal_quarter, d.weekday_name, d.is_holiday,
    g.fiscal_quarter as quarter_of_signup, g.weekday_name as weekday_of_signup,
    a.address_line, a.postal_code, ac.country_name as shipping_country, ac.region as shipping_region,
    x.target_amount as target_of_month
from {{ ref('stg_orders') }} o
left join {{ ref('dim_customers') }} c on c.customer_id = o.customer_id
left join {{ ref('dim_customers') }} f on f.customer_id = c.referred_by
left join {{ ref('dim_stores') }} s on s.store_id = o.store_id
left join {{ ref('countries') }} sc on sc.country_code = s.country_code
left join {{ ref('stg_employees') }} e on e.employee_id = o.employee_id
left join {{ ref('stg_employees') }} m on m.employee_id = e.manager_id
left join {{ ref('stg_promotions') }} p on p.promotion_id = o.promotion_id
left join {{ ref('int_category_paths') }} pc on pc.category_id = p.category_id
left join {{ ref('stg_currencies') }} u on u.currency_code = o.currency_code
left join {{ ref('order_statuses') }} t on t.status = o.status
left join {{ ref('dim_dates') }} d on d.calendar_date = o.ordered_on
left join {{ ref('dim_dates') }} g on g.calendar_date = c.signup_date
left join {{ ref('stg_addresses') }} a on a.address_id = o.shipping_address_id
left join {{ ref('countries') }} ac on ac.country_code = a.country_code
-- no key is declared for targets
left join {{ ref('store_targets') }} x on x.store_id = o.store_id and x.target_month = trunc(o.ordered_on, 'MM')

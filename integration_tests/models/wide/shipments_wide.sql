select
    h.shipment_id, h.carrier, h.cost, h.destination_country,
    o.channel, o.net_amount, c.full_name as customer_name, c.email_domain,
    n.country_name as destination_name, n.region as destination_region,
    b.city as billing_city, bn.country_name as billing_country, bn.vat_rate as billing_vat_rate,
    od.weekday_name as ordered_weekday, sd.weekday_name as shipped_weekday, sd.is_holiday as shipped_on_holiday,
    dd.weekday_name as delivered_weekday, dd.fiscal_quarter as delivered_quarter,
    s.store_name, s.region as store_region, t.status_group, p.season_code, pc.department as promoted_department
from {{ ref('fct_shipments') }} h
left join {{ ref('fct_orders') }} o on o.order_id = h.order_id
left join {{ ref('dim_customers') }} c on c.customer_id = o.customer_id
left join {{ ref('countries') }} n on n.country_code = h.destination_country
left join {{ ref('int_customer_addresses_current') }} b on b.customer_id = o.customer_id and b.kind = 'billing'
left join {{ ref('countries') }} bn on bn.country_code = b.country_code
left join {{ ref('dim_dates') }} od on od.calendar_date = o.ordered_on
left join {{ ref('dim_dates') }} sd on sd.calendar_date = cast(h.shipped_at as date)
left join {{ ref('dim_dates') }} dd on dd.calendar_date = cast(h.delivered_at as date)
left join {{ ref('dim_stores') }} s on s.store_id = o.store_id
left join {{ ref('order_statuses') }} t on t.status = o.status
left join {{ ref('stg_promotions') }} p on p.promotion_id = o.promotion_id
left join {{ ref('int_category_paths') }} pc on pc.category_id = p.category_id

select
    s.supplier_id,
    s.supplier_name,
    s.country_code,
    n.country_name,
    coalesce(n.region, 'elsewhere') as region,
    coalesce(s.rating, 2.5) as rating,
    width_bucket(coalesce(s.rating, 2.5), 0, 5, 5) as rating_class,
    s.contact_email,
    s.is_active
from {{ ref('stg_suppliers') }} s
left outer join {{ ref('countries') }} n on n.country_code = s.country_code

select
    supplier_id,
    trim(supplier_name) as supplier_name,
    upper(country_code) as country_code,
    rating,
    lower(contact.email) as contact_email,
    regexp_replace(contact.phone, '[^0-9+]', '') as contact_phone,
    is_active
from {{ source('retail', 'suppliers') }}

select industry_id, industry_name, sector from {{ source('brokerage', 'industries') }}

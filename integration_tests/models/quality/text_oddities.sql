select
    customer_id,
    last_name,
    length(last_name) as characters,
    octet_length(last_name) as bytes,
    last_name = '' as is_empty,
    last_name <> trim(last_name) as has_spaces,
    octet_length(last_name) > length(last_name) as has_other_letters,
    reverse(last_name) as backwards,
    crc32(encode(coalesce(last_name, ''), 'UTF-8')) as checksum
from {{ source('retail', 'customers') }}

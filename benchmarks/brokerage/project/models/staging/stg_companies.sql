-- CMP|id|name|status|industry|rating|founded|city|country|chief
with lines as (

    select line_number, posted_at, split(line, '[|]') as fields
    from {{ source('brokerage', 'newswire') }}
    where record_type = 'CMP'

)

select
    line_number,
    posted_at,
    cast(fields[1] as bigint) as company_id,
    trim(fields[2]) as company_name,
    fields[3] as status_id,
    fields[4] as industry_id,
    nullif(fields[5], '') as rating,
    try_to_date(fields[6], 'yyyyMMdd') as founded_on,
    fields[7] as city,
    fields[8] as country,
    fields[9] as chief,
    current_timestamp() as loaded_at
from lines

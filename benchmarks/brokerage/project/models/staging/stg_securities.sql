-- SEC|symbol|issue type|status|name|exchange|shares|first trade|dividend|company: its id or its name
select
    line_number,
    posted_at,
    upper(split_part(line, '|', 2)) as symbol,
    split_part(line, '|', 3) as issue_type,
    split_part(line, '|', 4) as status_id,
    split_part(line, '|', 5) as security_name,
    split_part(line, '|', 6) as exchange,
    try_cast(split_part(line, '|', 7) as bigint) as shares_outstanding,
    try_to_date(split_part(line, '|', 8), 'yyyyMMdd') as first_traded_on,
    try_cast(split_part(line, '|', 9) as decimal(10, 2)) as dividend,
    try_cast(split_part(line, '|', 10) as bigint) as company_id,
    case when try_cast(split_part(line, '|', 10) as bigint) is null then trim(split_part(line, '|', 10)) end as company_name,
    current_timestamp() as loaded_at
from {{ source('brokerage', 'newswire') }}
where record_type = 'SEC'

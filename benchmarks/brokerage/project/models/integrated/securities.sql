-- one row per version of a security, with the company as it was then. The wire names companies by their ids or by their names
with versions as (

    select
        *,
        posted_at as effective_date,
        coalesce(lead(posted_at) over (partition by symbol order by posted_at, line_number), timestamp '9999-12-31 00:00:00') as end_date
    from {{ ref('stg_securities') }}

),

by_id as (

    select v.*, c.company_key, c.company_id as issuer_id, c.company_name as issuer
    from versions v
    join {{ ref('companies') }} c
        on c.company_id = v.company_id
        and v.effective_date >= c.effective_date and v.effective_date < c.end_date

),

by_name as (

    select v.*, c.company_key, c.company_id as issuer_id, c.company_name as issuer
    from versions v
    join {{ ref('companies') }} c
        on lower(c.company_name) = lower(v.company_name)
        and v.effective_date >= c.effective_date and v.effective_date < c.end_date

),

matched as (

    select * from by_id
    union all
    select * from by_name

)

select
    md5(concat(m.symbol, '|', m.effective_date)) as security_key,
    m.symbol,
    m.security_name,
    m.issue_type,
    s.status_name as status,
    m.exchange,
    m.shares_outstanding,
    m.first_traded_on,
    m.dividend,
    m.company_key,
    m.issuer_id as company_id,
    m.issuer as company_name,
    m.effective_date,
    m.end_date,
    m.end_date = timestamp '9999-12-31 00:00:00' as is_current,
    current_timestamp() as loaded_at
from matched m
left join {{ ref('stg_status_types') }} s using (status_id)

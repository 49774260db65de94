-- one row per version of a company
with postings as (

    select
        *,
        row_number() over (partition by company_id, posted_at order by line_number desc) as n
    from {{ ref('stg_companies') }}

),

versions as (

    select
        *,
        lead(posted_at) over (partition by company_id order by posted_at) as next_posted_at
    from postings
    where n = 1

)

select
    md5(concat_ws('|', v.company_id, v.posted_at)) as company_key,
    v.company_id,
    v.company_name,
    s.status_name as status,
    i.industry_name,
    i.sector,
    v.rating,
    coalesce(v.rating not in ('AAA', 'AA', 'A', 'BBB'), false) as is_low_grade,
    v.founded_on,
    v.city,
    v.country,
    v.chief,
    v.posted_at as effective_date,
    coalesce(v.next_posted_at, timestamp '9999-12-31 00:00:00') as end_date,
    v.next_posted_at is null as is_current,
    current_timestamp() as loaded_at
from versions v
left join {{ ref('stg_status_types') }} s on s.status_id = v.status_id
left join {{ ref('stg_industries') }} i on i.industry_id = v.industry_id

-- the last figures of each quarter, and the sum of four quarters
with latest as (

    select *
    from (
        select
            *,
            row_number() over (partition by company_id, fiscal_year, fiscal_quarter order by posted_at desc) as rn
        from {{ ref('stg_financials') }}
    )
    where rn = 1

)

select
    company_id,
    fiscal_year,
    fiscal_quarter,
    make_date(fiscal_year, 3 * fiscal_quarter - 2, 1) as quarter_start,
    revenue,
    earnings,
    earnings_per_share,
    sum(earnings_per_share) over (
        partition by company_id order by fiscal_year, fiscal_quarter rows between 3 preceding and current row
    ) as earnings_per_share_of_year,
    revenue - lag(revenue, 4) over (partition by company_id order by fiscal_year, fiscal_quarter) as revenue_growth,
    current_timestamp() as loaded_at
from latest

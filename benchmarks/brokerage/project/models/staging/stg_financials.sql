-- FIN|year|quarter|revenue|earnings|shares|company
with lines as (
    select line_number, posted_at, split(line, '[|]') as f
    from {{ source('brokerage', 'newswire') }}
    where record_type = 'FIN'
)

select
    line_number,
    posted_at,
    cast(f[1] as int) as fiscal_year,
    cast(f[2] as int) as fiscal_quarter,
    cast(f[3] as decimal(15, 2)) as revenue,
    cast(f[4] as decimal(15, 2)) as earnings,
    cast(f[5] as bigint) as diluted_shares,
    try_divide(cast(f[4] as decimal(15, 2)), cast(f[5] as bigint)) as earnings_per_share,
    cast(f[6] as bigint) as company_id,
    current_timestamp() as loaded_at
from lines

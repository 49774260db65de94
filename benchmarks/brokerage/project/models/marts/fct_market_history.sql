-- prices with the figures of the company's last quarter: P/E ratio and yield
select
    m.symbol,
    s.security_key,
    s.company_key,
    m.market_date,
    m.close_price,
    m.high_price,
    m.low_price,
    m.volume,
    m.year_low,
    m.year_low_date,
    m.year_high,
    m.year_high_date,
    f.earnings_per_share_of_year,
    try_divide(m.close_price, f.earnings_per_share_of_year) as pe_ratio,
    round(s.dividend / nullif(m.close_price, 0) * 100, 2) as yield,
    (m.close_price - m.year_low) / nullif(m.year_high - m.year_low, 0) as position_in_range,
    avg(m.close_price) over (
        partition by m.symbol order by m.market_date rows between 29 preceding and current row
    ) as moving_average,
    current_timestamp() as loaded_at
from {{ ref('market_ranges') }} m
left join {{ ref('securities') }} s
    on s.symbol = m.symbol
    and cast(m.market_date as timestamp) >= s.effective_date
    and cast(m.market_date as timestamp) < s.end_date
left join {{ ref('financials') }} f
    on f.company_id = s.company_id
    and f.quarter_start = trunc(add_months(m.market_date, -3), 'QUARTER')

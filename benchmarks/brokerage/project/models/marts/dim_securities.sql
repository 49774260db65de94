-- securities as they are now, with their last price
with last_prices as (

    select symbol, market_date, close_price
    from (
        select
            symbol,
            market_date,
            close_price,
            row_number() over (partition by symbol order by market_date desc) as rn
        from {{ ref('daily_market') }}
    )
    where rn = 1

)

select
    s.security_key,
    s.symbol,
    s.security_name,
    s.issue_type,
    s.status,
    s.exchange,
    c.company_name,
    c.industry_name,
    c.sector,
    c.is_low_grade,
    s.dividend,
    s.shares_outstanding,
    p.close_price as last_price,
    p.market_date as last_price_date,
    s.shares_outstanding * p.close_price as market_capitalization,
    datediff(current_date(), p.market_date) as days_since_last_price,
    current_timestamp() as loaded_at
from {{ ref('securities') }} s
left join {{ ref('companies') }} c on c.company_key = s.company_key
left join last_prices p on p.symbol = s.symbol
where s.is_current

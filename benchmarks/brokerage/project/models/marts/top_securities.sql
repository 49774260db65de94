select
    t.symbol,
    s.company_name,
    s.sector,
    count(*) as trades,
    sum(t.trade_amount) as turnover
from {{ ref('fct_trades') }} t
join {{ ref('dim_securities') }} s on s.symbol = t.symbol
where t.status = 'Completed'
group by t.symbol, s.company_name, s.sector
order by turnover desc
limit 20

-- watches with the first trade of the symbol that the customer made later
with first_trades as (

    select
        w.customer_id,
        w.symbol,
        min(t.created_at) as first_trade_at,
        count(*) as trades
    from {{ ref('watches') }} w
    join {{ ref('fct_trades') }} t
        on t.customer_id = w.customer_id
        and t.symbol = w.symbol
        and t.created_at >= w.placed_at
    group by w.customer_id, w.symbol

)

select
    w.customer_id,
    w.symbol,
    c.customer_key,
    s.security_key,
    w.placed_at,
    w.removed_at,
    w.is_removed,
    f.first_trade_at,
    coalesce(f.trades, 0) as trades,
    datediff(coalesce(to_date(w.removed_at), current_date()), to_date(w.placed_at)) as days_watched,
    current_timestamp() as loaded_at
from {{ ref('watches') }} w
left join first_trades f on f.customer_id = w.customer_id and f.symbol = w.symbol
left join {{ ref('customers') }} c on c.customer_id = w.customer_id and c.is_current
left join {{ ref('securities') }} s on s.symbol = w.symbol and s.is_current

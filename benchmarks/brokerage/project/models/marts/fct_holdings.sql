-- what is held now: the last change of each holding
with ranked as (

    select
        *,
        row_number() over (partition by opening_trade_id order by changed_at desc, trade_id desc) as rn
    from {{ ref('holdings') }}

)

select
    h.opening_trade_id,
    h.account_id,
    h.symbol,
    h.quantity_after as quantity,
    h.purchase_price,
    h.purchase_amount,
    s.last_price,
    h.quantity_after * s.last_price as market_value,
    h.quantity_after * s.last_price - h.purchase_amount as unrealized_gain,
    h.changed_at,
    current_timestamp() as loaded_at
from ranked h
left join {{ ref('dim_securities') }} s on s.symbol = h.symbol
where h.rn = 1
  and not h.is_closed

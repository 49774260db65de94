-- what each trade made of the holding that another trade had opened
with latest as (

    select
        *,
        row_number() over (partition by opening_trade_id, trade_id order by cdc_sequence desc) as rn
    from {{ ref('stg_holding_changes') }}

)

select
    h.opening_trade_id,
    h.trade_id,
    t.account_id,
    t.symbol,
    t.closed_at as changed_at,
    h.quantity_before,
    h.quantity_after,
    h.quantity_change,
    o.trade_price as purchase_price,
    h.quantity_after * o.trade_price as purchase_amount,
    h.quantity_after = 0 as is_closed,
    current_timestamp() as loaded_at
from latest h
join {{ ref('trades') }} t on t.trade_id = h.trade_id
join {{ ref('trades') }} o on o.trade_id = h.opening_trade_id
where h.rn = 1
  and h.cdc_flag <> 'D'

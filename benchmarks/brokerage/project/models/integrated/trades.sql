-- the latest state of each trade
with latest as (

    select *
    from (
        select *, row_number() over (partition by trade_id order by cdc_sequence desc) as rn
        from {{ ref('stg_trades') }}
    ) t
    where rn = 1 and cdc_flag != 'D'

),

events as (

    select
        trade_id,
        min(event_ts) as created_at,
        max(case when status_id in ('CMPT', 'CNCL') then event_ts end) as closed_at,
        count(*) as events
    from {{ ref('stg_trade_events') }}
    group by trade_id

)

select
    t.trade_id,
    t.account_id,
    t.symbol,
    s.status_name as status,
    y.trade_type_name as trade_type,
    y.is_sell,
    t.is_cash,
    t.quantity,
    t.bid_price,
    t.trade_price,
    t.quantity * t.trade_price as trade_amount,
    t.fee,
    t.commission,
    t.tax,
    t.executed_by,
    coalesce(e.created_at, t.trade_ts) as created_at,
    e.closed_at,
    coalesce(e.events, 0) as events,
    unix_timestamp(e.closed_at) - unix_timestamp(e.created_at) as seconds_open,
    current_timestamp() as loaded_at
from latest t
left join events e on e.trade_id = t.trade_id
left join {{ ref('stg_status_types') }} s on s.status_id = t.status_id
left join {{ ref('stg_trade_types') }} y on y.trade_type_id = t.trade_type_id

-- The last day of the history has the stock that the movements add up to.
select h.store_id, h.product_id, h.stock_at_end_of_day, s.on_hand
from {{ ref('stock_history') }} h
join {{ ref('stock_on_hand') }} s
    on s.store_id = h.store_id and s.product_id = h.product_id and s.last_moved_on = h.moved_on
where h.stock_at_end_of_day <> s.on_hand

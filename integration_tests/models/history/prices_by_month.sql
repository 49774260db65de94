select
    product_id,
    date_trunc('month', changed_at) as month_start,
    max_by(price, changed_at) as last_price,
    min_by(price, changed_at) as first_price,
    count(*) as changes
from {{ ref('stg_price_log') }}
group by product_id, date_trunc('month', changed_at)

with moves as (

    select distinct customer_id, city, to_date(changed_at) as moved_on
    from {{ ref('stg_customer_changes') }}
    where city is not null

)

select
    {{ surrogate_key(['customer_id', 'moved_on', 'city']) }} as customer_city_key,
    customer_id,
    city,
    lag(city) over (partition by customer_id order by moved_on, city) as previous_city,
    moved_on as valid_from,
    coalesce(date_sub(lead(moved_on) over (partition by customer_id order by moved_on, city), 1), date'9999-12-31') as valid_to
from moves

-- movements in a store without a pause of half an hour between them are one round
with movements as (

    select
        movement_id,
        store_id,
        quantity,
        moved_at,
        coalesce(
            moved_at - lag(moved_at) over (partition by store_id order by moved_at, movement_id) > interval 30 minutes,
            true
        ) as starts_round
    from {{ ref('stg_inventory_movements') }}

)

select
    movement_id,
    store_id,
    moved_at,
    quantity,
    sum(cast(starts_round as int)) over (partition by store_id order by moved_at, movement_id) as round_number
from movements

{{ config(contract={'enforced': true}) }}
select
    return_id,
    order_id,
    line_number,
    quantity,
    coalesce(nullif(trim(lower(reason)), ''), 'not given') as reason,
    refund,
    returned_at,
    cast(returned_at as date) as returned_on
from {{ source('retail', 'returns') }}

select
    visitor_id,
    occurred_on,
    array_join(
        transform(array_sort(collect_list(struct(occurred_at, event_type))), step -> step.event_type), ' > '
    ) as journey,
    count(*) as steps
from {{ ref('stg_web_events') }}
group by visitor_id, occurred_on

select distinct device, referrer is null as came_directly
from {{ ref('stg_web_events') }}

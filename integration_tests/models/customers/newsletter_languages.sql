select
    upper(language) as language,
    count_if(wants_newsletter) as subscribers,
    count(*) - count_if(wants_newsletter) as others,
    bool_and(coalesce(marketing_consent, false)) as all_consent,
    bool_or(wants_newsletter) as has_subscribers
from {{ ref('stg_customers') }}
group by upper(language)

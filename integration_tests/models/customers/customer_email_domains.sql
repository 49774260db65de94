select
    email_domain,
    count(*) as customers,
    count(distinct language) as languages,
    min(signup_date) as first_signup,
    every(marketing_consent) as all_consent
from {{ ref('stg_customers') }}
where email_domain <> ''
group by email_domain
having count(*) > 1

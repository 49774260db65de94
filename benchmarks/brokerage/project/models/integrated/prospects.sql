-- people who might become customers, with the customer that has the same name and address
with matched as (

    select
        upper(concat_ws('|', trim(last_name), trim(first_name), trim(address), postal_code)) as match_key,
        max(customer_id) as customer_id,
        max(case when status = 'Active' then 1 else 0 end) = 1 as is_active
    from {{ ref('customers') }}
    where is_current
    group by 1

)

select
    p.agency_id,
    p.last_name,
    p.first_name,
    p.city,
    p.country,
    p.income,
    p.net_worth,
    p.age,
    p.credit_rating,
    m.customer_id,
    coalesce(m.is_active, false) as is_customer,
    nullif(
        concat_ws(
            '+',
            case when p.net_worth > 1000000 or p.income > 200000 then 'HighValue' end,
            case when p.number_of_children > 3 or p.number_of_credit_cards > 5 then 'Expenses' end,
            case when p.age > 45 then 'Boomer' end,
            case when p.income < 50000 or p.credit_rating < 600 or p.net_worth < 100000 then 'MoneyAlert' end,
            case when p.number_of_cars > 3 or p.number_of_credit_cards > 7 then 'Spender' end,
            case when p.age < 25 and p.net_worth > 1000000 then 'Inherited' end
        ),
        ''
    ) as marketing_nameplate,
    current_timestamp() as loaded_at
from {{ ref('stg_prospects') }} p
left join matched m on m.match_key = p.match_key

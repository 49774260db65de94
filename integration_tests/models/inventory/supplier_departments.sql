select s.supplier_id, s.supplier_name, d.department
from {{ ref('stg_suppliers') }} s
cross join (select distinct department from {{ ref('int_category_paths') }}) d
where exists (
    select 1
    from {{ ref('stg_products') }} p
    join {{ ref('int_category_paths') }} c on c.category_id = p.category_id
    where p.supplier_id = s.supplier_id and c.department = d.department
)

-- Models that count the same rows by different ways agree.
select k.customers, k.orders, c.customers as counted_customers, o.orders as counted_orders
from {{ ref('kpi_totals') }} k
cross join (select count(*) as customers from {{ ref('customer_orders') }}) c
cross join (select coalesce(sum(orders), 0) as orders from {{ ref('sales_daily') }}) o
where k.customers <> c.customers or k.orders <> o.orders

select o.id, o.customer_id, c.name, o.price
from orders o
join customers c on o.customer_id = c.id
where o.status = 'open'

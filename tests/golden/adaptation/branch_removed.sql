-- before
SELECT id, name FROM customers UNION ALL SELECT id, status FROM orders WHERE price > 1

-- after
SELECT id, name FROM customers

-- edits: branch removed, columns over stored ones

-- rows
SELECT
  `stored`.id,
  `stored`.name
FROM `view` VERSION AS OF 7 AS `stored`
WHERE
  `stored`.idivm__v__branch = 0

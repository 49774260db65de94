-- before
SELECT o.id, o.price, c.name FROM orders o LEFT JOIN customers c ON c.id = o.cid

-- after
SELECT o.id, o.price, c.name, c.region FROM orders o LEFT JOIN customers c ON c.id = o.cid

-- edits: look-up, columns over stored ones

-- rows
SELECT
  `stored`.id,
  `stored`.price,
  c.name,
  c.region,
  `stored`.idivm__o__cid
FROM `view` VERSION AS OF 7 AS `stored`
LEFT JOIN customers VERSION AS OF 4 AS c
  ON c.id = `stored`.idivm__o__cid

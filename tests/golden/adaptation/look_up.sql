-- before
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'

-- after
SELECT o.id, o.cid, c.name FROM orders o LEFT JOIN customers c ON c.id = o.cid WHERE o.status = 'open'

-- edits: look-up, columns over stored ones

-- rows
SELECT
  `stored`.id,
  `stored`.cid,
  c.name
FROM `view` VERSION AS OF 7 AS `stored`
LEFT JOIN customers VERSION AS OF 4 AS c
  ON c.id = `stored`.cid

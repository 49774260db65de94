-- before
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'

-- after
SELECT price * 2 + 1 AS more, id AS number FROM orders WHERE status = 'open'

-- edits: columns over stored ones

-- rows
SELECT
  `stored`.twice + 1 AS more,
  `stored`.id AS `number`
FROM `view` VERSION AS OF 7 AS `stored`

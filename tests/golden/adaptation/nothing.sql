-- before
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'

-- after
WITH o AS (SELECT * FROM orders WHERE status = 'open') SELECT id, cid, price * 2 AS twice FROM o

-- edits: stored rows stay

-- rows
SELECT
  `stored`.id,
  `stored`.cid,
  `stored`.twice
FROM `view` VERSION AS OF 7 AS `stored`

-- before
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'

-- after
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open' AND price * 2 > 5

-- edits: condition narrowed

-- rows
SELECT
  `stored`.id,
  `stored`.cid,
  `stored`.twice
FROM `view` VERSION AS OF 7 AS `stored`
WHERE
  `stored`.twice > 5

-- deleted
DELETE FROM `view` AS `stored`
WHERE
  NOT COALESCE((
    `stored`.twice > 5
  ), FALSE)

-- before
SELECT id, cid, price * 2 AS twice FROM orders WHERE status = 'open'

-- after
SELECT id, cid, price * 2 AS twice FROM orders WHERE status IN ('open', 'new')

-- edits: condition widened

-- rows
SELECT
  united.orders__id AS id,
  united.orders__cid AS cid,
  united.v__twice AS twice
FROM (
  SELECT
    `stored`.id AS orders__id,
    `stored`.cid AS orders__cid,
    `stored`.twice AS v__twice
  FROM `view` VERSION AS OF 7 AS `stored`
  UNION ALL
  SELECT
    orders.id AS orders__id,
    orders.cid AS orders__cid,
    orders.price * 2 AS v__twice
  FROM orders VERSION AS OF 3 AS orders
  WHERE
    NOT COALESCE((
      orders.status = 'open'
    ), FALSE)
    AND orders.status IN ('open', 'new')
) AS united

-- inserted
INSERT INTO `view` (
  id,
  cid,
  twice
)
SELECT
  orders.id,
  orders.cid,
  orders.price * 2 AS twice
FROM orders VERSION AS OF 3 AS orders
WHERE
  NOT COALESCE((
    orders.status = 'open'
  ), FALSE)
  AND orders.status IN ('open', 'new')

-- before
SELECT cid, sum(price) AS total FROM orders GROUP BY cid

-- after
SELECT cid, sum(price) AS total, max(status) AS last FROM orders GROUP BY cid

-- edits: aggregate added, columns over stored ones

-- rows
SELECT
  `stored`.cid,
  `stored`.total,
  groups.v__last AS `last`,
  `stored`.idivm__count__rows,
  `stored`.idivm__count__orders__price
FROM `view` VERSION AS OF 7 AS `stored`
JOIN (
  SELECT
    orders.cid AS orders__cid,
    MAX(orders.status) AS v__last
  FROM orders VERSION AS OF 3 AS orders
  GROUP BY
    orders.cid
) AS groups
  ON `stored`.cid IS NOT DISTINCT FROM groups.orders__cid

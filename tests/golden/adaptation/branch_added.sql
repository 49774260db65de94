-- before
SELECT id, name FROM customers UNION ALL SELECT id, status FROM orders WHERE price > 1

-- after
SELECT id, name FROM customers UNION ALL SELECT id, status FROM orders WHERE price > 1 UNION ALL SELECT id, region FROM customers

-- edits: branch added

-- rows
SELECT
  united.v__id AS id,
  united.v__name AS name,
  united.v__branch AS idivm__v__branch
FROM (
  SELECT
    `stored`.id AS v__id,
    `stored`.name AS v__name,
    0 AS v__branch
  FROM `view` VERSION AS OF 7 AS `stored`
  WHERE
    `stored`.idivm__v__branch = 0
  UNION ALL
  SELECT
    stored_2.id AS v__id,
    stored_2.name AS v__name,
    1 AS v__branch
  FROM `view` VERSION AS OF 7 AS stored_2
  WHERE
    stored_2.idivm__v__branch = 1
  UNION ALL
  SELECT
    customers_2.id AS v__id,
    customers_2.region AS v__name,
    2 AS v__branch
  FROM customers VERSION AS OF 4 AS customers_2
) AS united

-- inserted
INSERT INTO `view` (
  id,
  name,
  idivm__v__branch
)
SELECT
  customers_2.id,
  customers_2.region AS name,
  2 AS idivm__v__branch
FROM customers VERSION AS OF 4 AS customers_2

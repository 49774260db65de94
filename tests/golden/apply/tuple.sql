-- title
-- Tuple-based over a view with IDs: whole view tuples go and come, an update is one of each

-- schema
CREATE TABLE orders (id INT, cust INT, price INT, PRIMARY KEY (id));
CREATE TABLE cust (id INT, name INT, PRIMARY KEY (id));

-- view (tuple)
SELECT o.id, o.price, c.name FROM orders AS o JOIN cust AS c ON o.cust = c.id;

-- data
INSERT INTO cust VALUES (1, 10), (2, 20);
INSERT INTO orders VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7);
-- then
UPDATE cust SET name = 11 WHERE id = 1;
UPDATE orders SET price = 8 WHERE id = 2;
DELETE FROM orders WHERE id = 3;
INSERT INTO orders VALUES (4, 2, 9);
-- then
UPDATE orders SET cust = 2 WHERE id = 1;

-- ids
-- π o__id, o__price, c__name, c__id   [ID: o__id, c__id]
--   ⋈ o__cust = c__id   [ID: o__id, c__id]
--     scan orders as o   [ID: o__id]
--     scan cust as c   [ID: c__id]

-- rules


-- apply
-- apply: tuple
MERGE INTO maintained AS v
USING (
  WITH net_rows AS (
    SELECT o__id AS o__id, o__price AS o__price, c__name AS c__name, c__id AS c__id, SUM(idivm_sign) AS idivm_weight
    FROM (
      SELECT united.o__id, united.o__price, united.c__name, united.c__id, united.idivm_sign
      FROM (
        SELECT
          d_signed__o.o__id,
          d_signed__o.o__cust,
          d_signed__o.o__price,
          c_2.c__id,
          c_2.c__name,
          d_signed__o.idivm_sign
        FROM d_signed__o
        JOIN (
          SELECT c.id AS c__id, c.name AS c__name
          FROM cust AS c
          WHERE NOT EXISTS(SELECT 1 FROM d_plus__c WHERE d_plus__c.c__id IS NOT DISTINCT FROM c.id)
          UNION ALL
          SELECT d_minus__c.c__id, d_minus__c.c__name
          FROM d_minus__c
        ) AS c_2 ON d_signed__o.o__cust = c_2.c__id
        UNION ALL
        SELECT
          o.id AS o__id,
          o.cust AS o__cust,
          o.price AS o__price,
          d_signed__c.c__id,
          d_signed__c.c__name,
          d_signed__c.idivm_sign
        FROM d_signed__c
        JOIN orders AS o ON o.cust = d_signed__c.c__id) AS united
    ) AS signed_rows
    GROUP BY o__id, o__price, c__name, c__id
    HAVING SUM(idivm_sign) <> 0)
  SELECT CASE WHEN idivm_weight > 0 THEN 'I' ELSE 'D' END AS idivm_op, o__id, o__price, c__name, c__id
  FROM (
    SELECT
      o__id,
      o__price,
      c__name,
      c__id,
      idivm_weight,
      MAX(idivm_weight) OVER (PARTITION BY o__id, c__id) AS idivm_last
    FROM net_rows
  ) AS ranked
  WHERE idivm_weight = idivm_last) AS d
ON v.id IS NOT DISTINCT FROM d.o__id AND v.idivm__c__id IS NOT DISTINCT FROM d.c__id
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'I' THEN UPDATE SET price = d.o__price, name = d.c__name
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (id, price, name, idivm__c__id) VALUES (d.o__id, d.o__price, d.c__name, d.c__id);

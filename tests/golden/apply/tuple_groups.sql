-- title
-- Tuple-based over groups that are not added up: those that the tuples touch, as they are and as they were

-- schema
CREATE TABLE orders (id INT, cust INT, price INT, PRIMARY KEY (id));

-- view (tuple)
SELECT o.cust, MAX(o.price) AS highest FROM orders AS o GROUP BY o.cust;

-- data
INSERT INTO orders VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7);
-- then
UPDATE orders SET price = 4 WHERE id = 2;
DELETE FROM orders WHERE id = 3;
-- then
UPDATE orders SET cust = 3 WHERE id = 1;

-- ids
-- π o__cust, v__highest   [ID: o__cust]
--   γ o__cust; MAX(o__price) → v__highest   [ID: o__cust]
--     scan orders as o   [ID: o__id]

-- rules


-- apply
-- apply: tuple
MERGE INTO maintained AS v
USING (
  WITH net_rows AS (
    SELECT o__cust AS o__cust, v__highest AS v__highest, SUM(idivm_sign) AS idivm_weight
    FROM (
      SELECT united.o__cust, united.v__highest, united.idivm_sign
      FROM (
        SELECT groups.o__cust, groups.v__highest, 1 AS idivm_sign
        FROM (
          SELECT o.cust AS o__cust, MAX(o.price) AS v__highest
          FROM orders AS o
          WHERE EXISTS(SELECT 1 FROM d_signed__o WHERE d_signed__o.o__cust IS NOT DISTINCT FROM o.cust)
          GROUP BY o.cust) AS groups
        UNION ALL
        SELECT groups_2.o__cust, groups_2.v__highest, -1 AS idivm_sign
        FROM (
          SELECT o_3.o__cust, MAX(o_3.o__price) AS v__highest
          FROM (
            SELECT o_2.id AS o__id, o_2.cust AS o__cust, o_2.price AS o__price
            FROM orders AS o_2
            WHERE NOT EXISTS(SELECT 1 FROM d_plus__o WHERE d_plus__o.o__id IS NOT DISTINCT FROM o_2.id)
            UNION ALL
            SELECT d_minus__o.o__id, d_minus__o.o__cust, d_minus__o.o__price
            FROM d_minus__o
          ) AS o_3
          WHERE
            EXISTS(
              SELECT 1
              FROM d_signed__o AS d_signed__o_2
              WHERE d_signed__o_2.o__cust IS NOT DISTINCT FROM o_3.o__cust)
          GROUP BY o_3.o__cust) AS groups_2
      ) AS united
    ) AS signed_rows
    GROUP BY o__cust, v__highest
    HAVING SUM(idivm_sign) <> 0)
  SELECT CASE WHEN idivm_weight > 0 THEN 'I' ELSE 'D' END AS idivm_op, o__cust, v__highest
  FROM (
    SELECT o__cust, v__highest, idivm_weight, MAX(idivm_weight) OVER (PARTITION BY o__cust) AS idivm_last
    FROM net_rows
  ) AS ranked
  WHERE idivm_weight = idivm_last) AS d
ON v.cust IS NOT DISTINCT FROM d.o__cust
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'I' THEN UPDATE SET highest = d.v__highest
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (cust, highest) VALUES (d.o__cust, d.v__highest);

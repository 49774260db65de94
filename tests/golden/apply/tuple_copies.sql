-- title
-- Tuple-based over a view whose IDs repeat: the counting algorithm, with the copies that are stored

-- schema
CREATE TABLE t0 (x INT, y INT);

-- view (tuple)
SELECT a.x, a.y FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1), (1, 1), (3, 3);
-- then
INSERT INTO t0 VALUES (1, 1), (2, 2);
-- then
DELETE FROM t0 WHERE x = 1;
INSERT INTO t0 VALUES (1, 1);

-- ids
-- π a__x, a__y   [ID, not unique: a__x, a__y]
--   scan t0 as a   [ID, not unique: a__x, a__y]

-- rules


-- apply
-- apply: tuple
MERGE INTO maintained AS v
USING (
  WITH net_rows AS (
    SELECT a__x AS a__x, a__y AS a__y, SUM(idivm_sign) AS idivm_weight
    FROM (SELECT d_signed__a.a__x, d_signed__a.a__y, d_signed__a.idivm_sign FROM d_signed__a) AS signed_rows
    GROUP BY a__x, a__y
    HAVING SUM(idivm_sign) <> 0)
  SELECT CASE WHEN idivm_copy = 0 THEN 'D' ELSE 'I' END AS idivm_op, a__x, a__y
  FROM (
    SELECT a__x, a__y, EXPLODE(SEQUENCE(1 - idivm_stored, idivm_copies, 1)) AS idivm_copy
    FROM (
      SELECT a__x, a__y, CAST(SUM(idivm_copies) AS INT) AS idivm_copies, CAST(MAX(idivm_stored) AS INT) AS idivm_stored
      FROM (
        SELECT a__x, a__y, idivm_weight AS idivm_copies, 0 AS idivm_stored
        FROM net_rows
        UNION ALL
        SELECT v.x AS a__x, v.y AS a__y, 1 AS idivm_copies, 1 AS idivm_stored
        FROM maintained AS v
        WHERE
          EXISTS(
            SELECT 1
            FROM net_rows
            WHERE net_rows.a__x IS NOT DISTINCT FROM v.x AND net_rows.a__y IS NOT DISTINCT FROM v.y)
      ) AS counted
      GROUP BY a__x, a__y) AS changed
  ) AS copies
) AS d
ON d.idivm_op = 'D'
AND v.x IS NOT DISTINCT FROM d.a__x
AND v.y IS NOT DISTINCT FROM d.a__y
WHEN MATCHED THEN DELETE
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, y) VALUES (d.a__x, d.a__y);

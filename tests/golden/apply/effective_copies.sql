-- title
-- Effective over a view whose IDs repeat: all copies of a changed row go and come

-- schema
CREATE TABLE t0 (x INT, y INT);

-- view
SELECT a.x, a.y FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1), (1, 1);
-- then
INSERT INTO t0 VALUES (1, 1), (2, 2);
-- then
DELETE FROM t0 WHERE x = 1;

-- ids
-- π a__x, a__y   [ID, not unique: a__x, a__y]
--   scan t0 as a   [ID, not unique: a__x, a__y]

-- rules
-- project_rec  (rec → 1)

-- apply
-- apply, when no i-diff is empty: effective
MERGE INTO maintained AS v
USING (
  WITH v_rec__a AS (SELECT d_rec__a.a__x, d_rec__a.a__y FROM d_rec__a), old_rows AS (
    SELECT v.x AS a__x, v.y AS a__y, named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, a__y, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, v_rec__a.a__y, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x, a__y) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x AND v.y IS NOT DISTINCT FROM named.a__y
  ), new_rows AS (
    SELECT a.x AS a__x, a.y AS a__y
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM v_rec__a AS v_rec__a_2
        WHERE v_rec__a_2.a__x IS NOT DISTINCT FROM a.x AND v_rec__a_2.a__y IS NOT DISTINCT FROM a.y)
  )
  SELECT CASE WHEN idivm_copy = 0 THEN 'D' ELSE 'I' END AS idivm_op, a__x, a__y
  FROM (
    SELECT a__x, a__y, EXPLODE(SEQUENCE(1 - idivm_stored, idivm_copies, 1)) AS idivm_copy
    FROM (
      SELECT a__x, a__y, CAST(SUM(idivm_copies) AS INT) AS idivm_copies, CAST(MAX(idivm_stored) AS INT) AS idivm_stored
      FROM (
        SELECT a__x, a__y, 1 AS idivm_weight, 1 AS idivm_copies, 0 AS idivm_stored
        FROM new_rows
        UNION ALL
        SELECT a__x, a__y, -1 AS idivm_weight, 0 AS idivm_copies, 1 AS idivm_stored
        FROM old_rows
      ) AS counted
      GROUP BY a__x, a__y
      HAVING SUM(idivm_weight) <> 0) AS changed
  ) AS copies
) AS d
ON d.idivm_op = 'D'
AND v.x IS NOT DISTINCT FROM d.a__x
AND v.y IS NOT DISTINCT FROM d.a__y
WHEN MATCHED THEN DELETE
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, y) VALUES (d.a__x, d.a__y);

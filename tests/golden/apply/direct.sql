-- title
-- Direct: i-diffs of one occurrence over one ID never meet in a view row

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 0);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4);

-- ids
-- π a__k, a__y   [ID: a__k]
--   scan t0 as a   [ID: a__k]

-- rules
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)

-- apply
-- apply, when no i-diff is empty: direct
MERGE INTO maintained AS v
USING (
  SELECT 'ins_1' AS idivm_op, d_ins__a.a__k AS a__k, d_ins__a.a__y AS a__y
  FROM d_ins__a
  UNION ALL
  SELECT 'del_2' AS idivm_op, d_del__a.a__k AS a__k, d_del__a.a__y AS a__y
  FROM d_del__a
  UNION ALL
  SELECT 'upd_3' AS idivm_op, d_upd__a.a__k AS a__k, d_upd__a.a__y AS a__y
  FROM d_upd__a
) AS d
ON v.k IS NOT DISTINCT FROM d.a__k
WHEN MATCHED AND d.idivm_op = 'del_2' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'upd_3' AND NOT (v.y IS NOT DISTINCT FROM d.a__y) THEN UPDATE SET
  y = d.a__y
WHEN NOT MATCHED AND d.idivm_op = 'ins_1' THEN INSERT (k, y) VALUES (d.a__k, d.a__y);

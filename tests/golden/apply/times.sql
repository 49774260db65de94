-- title
-- Time of writing: whatever writes a row writes it, and a row that differs in nothing else is not touched

-- schema
CREATE TABLE t0 (k INT, y INT, PRIMARY KEY (k));

-- view
SELECT a.k, current_timestamp() AS loaded_at, a.y FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 0), (2, 0);
-- then
UPDATE t0 SET y = 5 WHERE k = 1;
-- then
DELETE FROM t0 WHERE k = 2;
INSERT INTO t0 VALUES (4, 4);

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
  loaded_at = CURRENT_TIMESTAMP(),
  y = d.a__y
WHEN NOT MATCHED AND d.idivm_op = 'ins_1' THEN INSERT (k, loaded_at, y) VALUES (d.a__k, CURRENT_TIMESTAMP(), d.a__y);

-- title
-- Effective: old and new rows by full ID, what is equal left out

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y FROM t0 AS a WHERE a.x > 1;

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
--   σ a__x > 1   [ID: a__k]
--     scan t0 as a   [ID: a__k]

-- rules
-- select_ins  (ins → 1)
-- select_del_known  (del → 1)
-- select_upd_known  (upd → 1)
-- select_rec_known  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)

-- apply
-- apply, when no i-diff is empty: effective
MERGE INTO maintained AS v
USING (
  WITH v_ins__a AS (SELECT d_ins__a.a__k, d_ins__a.a__y FROM d_ins__a WHERE d_ins__a.a__x > 1), v_del__a AS (
    SELECT d_del__a.a__k, d_del__a.a__y
    FROM d_del__a
    WHERE d_del__a.a__x > 1), v_upd__a AS (
    SELECT d_upd__a.a__k, d_upd__a.a__y
    FROM d_upd__a
    WHERE d_upd__a.a__x > 1), v_rec__a AS (
    SELECT d_rec__a.a__k, d_rec__a.a__y
    FROM d_rec__a
    WHERE d_rec__a.a__x > 1), old_rows AS (
    SELECT v.k AS a__k, v.y AS a__y, named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__k, MAX(idivm_dead) AS idivm_dead
      FROM (
        SELECT v_del__a.a__k, TRUE AS idivm_dead
        FROM v_del__a
        UNION ALL
        SELECT v_rec__a.a__k, TRUE AS idivm_dead
        FROM v_rec__a
        UNION ALL
        SELECT v_upd__a.a__k, FALSE AS idivm_dead
        FROM v_upd__a
      ) AS keys
      GROUP BY a__k) AS named
      ON v.k IS NOT DISTINCT FROM named.a__k
  ), new_rows AS (
    SELECT d_plus__a.a__k, d_plus__a.a__y
    FROM d_plus__a
    WHERE
      EXISTS(SELECT 1 FROM v_rec__a AS v_rec__a_2 WHERE v_rec__a_2.a__k IS NOT DISTINCT FROM d_plus__a.a__k)
      AND d_plus__a.a__x > 1
    UNION ALL
    SELECT v_ins__a.a__k, v_ins__a.a__y
    FROM v_ins__a
    WHERE NOT EXISTS(SELECT 1 FROM v_rec__a AS v_rec__a_3 WHERE v_rec__a_3.a__k IS NOT DISTINCT FROM v_ins__a.a__k))
  SELECT
    CASE
      WHEN old_rows.idivm_hit IS NULL
      THEN 'I'
      WHEN old_rows.idivm_dead AND new_rows.idivm_hit IS NULL
      THEN 'D'
      ELSE 'U'
    END AS idivm_op,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__k ELSE old_rows.a__k END AS a__k,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__y WHEN upd.idivm_hit THEN upd.a__y ELSE old_rows.a__y
    END AS a__y
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__k IS NOT DISTINCT FROM new_rows.a__k
  LEFT JOIN (SELECT v_upd__a_2.a__k, v_upd__a_2.a__y, TRUE AS idivm_hit FROM v_upd__a AS v_upd__a_2) AS upd
    ON old_rows.a__k IS NOT DISTINCT FROM upd.a__k
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN old_rows.a__y IS NOT DISTINCT FROM new_rows.a__y
        WHEN upd.idivm_hit
        THEN old_rows.a__y IS NOT DISTINCT FROM upd.a__y
        ELSE TRUE
      END
    )
) AS d
ON v.k IS NOT DISTINCT FROM d.a__k
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET y = d.a__y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (k, y) VALUES (d.a__k, d.a__y);

-- title
-- Not additive: a sum of floats depends on the order of its rows, an average of decimals would be rounded twice

-- schema
CREATE TABLE t0 (k INT, x INT, f DOUBLE, m DECIMAL(8, 2), PRIMARY KEY (k));

-- view
SELECT a.x, sum(a.f) AS s, avg(a.m) AS m FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 0.5, 1.10), (2, 2, 1.5, 2.20), (3, 2, 2.5, 3.30);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET f = 4.5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4.5, 4.40);

-- ids
-- π a__x, v__s, v__m   [ID: a__x]
--   γ a__x; SUM(a__f) → v__s, AVG(a__m) → v__m   [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)

-- apply
-- apply, when no i-diff is empty: effective
MERGE INTO maintained AS v
USING (
  WITH v_rec__a AS (
    SELECT keys.a__x
    FROM (
      SELECT DISTINCT united.a__x
      FROM (
        SELECT d_ins__a.a__x
        FROM d_ins__a
        UNION ALL
        SELECT d_del__a.a__x
        FROM d_del__a
        UNION ALL
        SELECT d_upd__a.a__x
        FROM d_upd__a
        UNION ALL
        SELECT d_rec__a.a__x
        FROM d_rec__a
      ) AS united
    ) AS keys
  ), old_rows AS (
    SELECT v.x AS a__x, v.s AS v__s, v.m AS v__m, named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT groups.a__x, groups.v__s, groups.v__m
    FROM (
      SELECT a.x AS a__x, SUM(a.f) AS v__s, AVG(a.m) AS v__m
      FROM t0 AS a
      WHERE EXISTS(SELECT 1 FROM v_rec__a AS v_rec__a_2 WHERE v_rec__a_2.a__x IS NOT DISTINCT FROM a.x)
      GROUP BY a.x) AS groups
  )
  SELECT
    CASE
      WHEN old_rows.idivm_hit IS NULL
      THEN 'I'
      WHEN old_rows.idivm_dead AND new_rows.idivm_hit IS NULL
      THEN 'D'
      ELSE 'U'
    END AS idivm_op,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__x ELSE old_rows.a__x END AS a__x,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__s ELSE old_rows.v__s END AS v__s,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__m ELSE old_rows.v__m END AS v__m
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN CAST(old_rows.v__s AS STRING) IS NOT DISTINCT FROM CAST(new_rows.v__s AS STRING)
        AND CAST(old_rows.v__m AS STRING) IS NOT DISTINCT FROM CAST(new_rows.v__m AS STRING)
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET s = d.v__s, m = d.v__m
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, s, m) VALUES (d.a__x, d.v__s, d.v__m);

-- title
-- Additive: signed sums and counts; a group whose count gets to zero goes

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT a.x, sum(a.y) AS s, avg(a.y) AS m FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 0);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4);

-- ids
-- π a__x, v__s, v__m, count__rows, count__a__y   [ID: a__x]
--   γ a__x; SUM(a__y) → v__s, AVG(a__y) → v__m, COUNT(*) → count__rows, COUNT(a__y) → count__a__y   [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → count__rows)
-- additive_count  (COUNT(a__y) → count__a__y)
-- additive_sum  (SUM(a__y) → v__s)
-- additive_avg  (AVG(a__y) → v__m)

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
    SELECT
      v.x AS a__x,
      v.s AS v__s,
      v.m AS v__m,
      v.idivm__count__rows AS count__rows,
      v.idivm__count__a__y AS count__a__y,
      named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT groups.a__x, groups.v__s, groups.v__m, groups.count__rows, groups.count__a__y
    FROM (
      SELECT a.x AS a__x, SUM(a.y) AS v__s, AVG(a.y) AS v__m, COUNT(*) AS count__rows, COUNT(a.y) AS count__a__y
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__m ELSE old_rows.v__m END AS v__m,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__rows ELSE old_rows.count__rows END AS count__rows,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__y ELSE old_rows.count__a__y END AS count__a__y
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN old_rows.v__s IS NOT DISTINCT FROM new_rows.v__s
        AND CAST(old_rows.v__m AS STRING) IS NOT DISTINCT FROM CAST(new_rows.v__m AS STRING)
        AND old_rows.count__rows IS NOT DISTINCT FROM new_rows.count__rows
        AND old_rows.count__a__y IS NOT DISTINCT FROM new_rows.count__a__y
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET
  s = d.v__s,
  m = d.v__m,
  idivm__count__rows = d.count__rows,
  idivm__count__a__y = d.count__a__y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, s, m, idivm__count__rows, idivm__count__a__y) VALUES (d.a__x, d.v__s, d.v__m, d.count__rows, d.count__a__y);
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT change.a__x, change.count__rows, change.count__a__y, change.v__s
  FROM (
    SELECT
      d_signed__a.a__x,
      SUM(d_signed__a.idivm_sign) AS count__rows,
      SUM(CASE WHEN d_signed__a.a__y IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) AS count__a__y,
      COALESCE(
        SUM(
          CASE
            WHEN d_signed__a.idivm_sign > 0
            THEN CAST(d_signed__a.a__y AS BIGINT)
            ELSE -CAST(d_signed__a.a__y AS BIGINT)
          END
        ),
        0
      ) AS v__s
    FROM d_signed__a
    GROUP BY d_signed__a.a__x
    HAVING
      SUM(d_signed__a.idivm_sign) <> 0
      OR SUM(CASE WHEN d_signed__a.a__y IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) <> 0
      OR COALESCE(
        SUM(
          CASE
            WHEN d_signed__a.idivm_sign > 0
            THEN CAST(d_signed__a.a__y AS BIGINT)
            ELSE -CAST(d_signed__a.a__y AS BIGINT)
          END
        ),
        0
      ) <> 0
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  s = CASE WHEN (v.idivm__count__a__y + d.count__a__y) = 0 THEN NULL ELSE COALESCE(v.s, 0) + d.v__s
  END,
  m = CASE
    WHEN (v.idivm__count__a__y + d.count__a__y) = 0
    THEN NULL
    ELSE CAST(CASE WHEN (v.idivm__count__a__y + d.count__a__y) = 0 THEN NULL ELSE COALESCE(v.s, 0) + d.v__s
    END AS DOUBLE) / (v.idivm__count__a__y + d.count__a__y)
  END,
  idivm__count__rows = v.idivm__count__rows + d.count__rows,
  idivm__count__a__y = v.idivm__count__a__y + d.count__a__y
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (x, s, m, idivm__count__rows, idivm__count__a__y) VALUES (
  d.a__x,
  CASE WHEN (d.count__a__y) = 0 THEN NULL ELSE d.v__s END,
  CASE
    WHEN (d.count__a__y) = 0
    THEN NULL
    ELSE CAST(CASE WHEN (d.count__a__y) = 0 THEN NULL ELSE d.v__s END AS DOUBLE) / (
      d.count__a__y
    )
  END,
  d.count__rows,
  d.count__a__y
);

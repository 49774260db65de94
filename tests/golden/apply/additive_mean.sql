-- title
-- Averages of decimals: the sum of a type for which `/` rounds to the digits of the average; without a fraction a hundredth of it

-- schema
CREATE TABLE t0 (k INT, x INT, y DECIMAL(15, 2), z DECIMAL(12, 0), PRIMARY KEY (k));

-- view
SELECT a.x, avg(a.y) AS m, round(avg(a.z), 1) AS n FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 1.5, 1), (2, 2, 0.5, 0), (3, 2, 0, 2);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4, NULL);

-- ids
-- π a__x, v__m, count__rows, sum__a__y, count__a__y, sum__a__z, count__a__z, ROUND(v__avg_z, 1) → v__n   [ID: a__x]
--   γ a__x; AVG(a__y) → v__m, AVG(a__z) → v__avg_z, COUNT(*) → count__rows, SUM(a__y) → sum__a__y, COUNT(a__y) → count__a__y, SUM(a__z) → sum__a__z, COUNT(a__z) → count__a__z   [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → count__rows)
-- additive_count  (COUNT(a__y) → count__a__y)
-- additive_count  (COUNT(a__z) → count__a__z)
-- additive_sum_decimal  (SUM(a__y) → sum__a__y)
-- additive_sum_decimal  (SUM(a__z) → sum__a__z)
-- additive_avg_decimal  (AVG(a__y) → v__m)
-- additive_avg_decimal  (AVG(a__z) → v__avg_z)

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
      v.m AS v__m,
      v.n AS v__n,
      v.idivm__count__rows AS count__rows,
      v.idivm__sum__a__y AS sum__a__y,
      v.idivm__count__a__y AS count__a__y,
      v.idivm__sum__a__z AS sum__a__z,
      v.idivm__count__a__z AS count__a__z,
      named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT
      groups.a__x,
      groups.v__m,
      ROUND(groups.v__avg_z, 1) AS v__n,
      groups.count__rows,
      groups.sum__a__y,
      groups.count__a__y,
      groups.sum__a__z,
      groups.count__a__z
    FROM (
      SELECT
        a.x AS a__x,
        AVG(a.y) AS v__m,
        AVG(a.z) AS v__avg_z,
        COUNT(*) AS count__rows,
        SUM(a.y) AS sum__a__y,
        COUNT(a.y) AS count__a__y,
        SUM(a.z) AS sum__a__z,
        COUNT(a.z) AS count__a__z
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__m ELSE old_rows.v__m END AS v__m,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__n ELSE old_rows.v__n END AS v__n,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__rows ELSE old_rows.count__rows END AS count__rows,
    CASE WHEN new_rows.idivm_hit THEN new_rows.sum__a__y ELSE old_rows.sum__a__y END AS sum__a__y,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__y ELSE old_rows.count__a__y END AS count__a__y,
    CASE WHEN new_rows.idivm_hit THEN new_rows.sum__a__z ELSE old_rows.sum__a__z END AS sum__a__z,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__z ELSE old_rows.count__a__z END AS count__a__z
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN old_rows.v__m IS NOT DISTINCT FROM new_rows.v__m
        AND old_rows.v__n IS NOT DISTINCT FROM new_rows.v__n
        AND old_rows.count__rows IS NOT DISTINCT FROM new_rows.count__rows
        AND old_rows.sum__a__y IS NOT DISTINCT FROM new_rows.sum__a__y
        AND old_rows.count__a__y IS NOT DISTINCT FROM new_rows.count__a__y
        AND old_rows.sum__a__z IS NOT DISTINCT FROM new_rows.sum__a__z
        AND old_rows.count__a__z IS NOT DISTINCT FROM new_rows.count__a__z
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET
  m = d.v__m,
  n = d.v__n,
  idivm__count__rows = d.count__rows,
  idivm__sum__a__y = d.sum__a__y,
  idivm__count__a__y = d.count__a__y,
  idivm__sum__a__z = d.sum__a__z,
  idivm__count__a__z = d.count__a__z
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (
  x,
  m,
  n,
  idivm__count__rows,
  idivm__sum__a__y,
  idivm__count__a__y,
  idivm__sum__a__z,
  idivm__count__a__z
) VALUES (d.a__x, d.v__m, d.v__n, d.count__rows, d.sum__a__y, d.count__a__y, d.sum__a__z, d.count__a__z);
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT change.a__x, change.count__rows, change.count__a__y, change.count__a__z, change.sum__a__y, change.sum__a__z
  FROM (
    SELECT
      d_signed__a.a__x,
      SUM(d_signed__a.idivm_sign) AS count__rows,
      SUM(CASE WHEN d_signed__a.a__y IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) AS count__a__y,
      SUM(CASE WHEN d_signed__a.a__z IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) AS count__a__z,
      COALESCE(
        SUM(CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__y ELSE -d_signed__a.a__y END),
        0
      ) AS sum__a__y,
      COALESCE(
        SUM(CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__z ELSE -d_signed__a.a__z END),
        0
      ) AS sum__a__z
    FROM d_signed__a
    GROUP BY d_signed__a.a__x
    HAVING
      SUM(d_signed__a.idivm_sign) <> 0
      OR SUM(CASE WHEN d_signed__a.a__y IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) <> 0
      OR SUM(CASE WHEN d_signed__a.a__z IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) <> 0
      OR COALESCE(SUM(CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__y ELSE -d_signed__a.a__y END), 0) <> 0
      OR COALESCE(SUM(CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__z ELSE -d_signed__a.a__z END), 0) <> 0
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  m = CASE
    WHEN (v.idivm__count__a__y + d.count__a__y) = 0
    THEN NULL
    ELSE CAST(CAST(CAST(CASE
      WHEN (v.idivm__count__a__y + d.count__a__y) = 0
      THEN NULL
      ELSE COALESCE(v.idivm__sum__a__y, 0) + d.sum__a__y
    END AS DECIMAL(25, 2)) AS DECIMAL(34, 2)) / CAST(v.idivm__count__a__y + d.count__a__y AS DECIMAL(20, 0)) AS DECIMAL(19, 6))
  END,
  n = ROUND(
    CASE
      WHEN (v.idivm__count__a__z + d.count__a__z) = 0
      THEN NULL
      ELSE CAST(CAST(CAST(CASE
        WHEN (v.idivm__count__a__z + d.count__a__z) = 0
        THEN NULL
        ELSE COALESCE(v.idivm__sum__a__z, 0) + d.sum__a__z
      END AS DECIMAL(22, 0)) AS DECIMAL(32, 0)) / (
        CAST(v.idivm__count__a__z + d.count__a__z AS DECIMAL(20, 0)) * 100
      ) * 100 AS DECIMAL(16, 4))
    END,
    1
  ),
  idivm__count__rows = v.idivm__count__rows + d.count__rows,
  idivm__sum__a__y = CAST(CASE
    WHEN (v.idivm__count__a__y + d.count__a__y) = 0
    THEN NULL
    ELSE COALESCE(v.idivm__sum__a__y, 0) + d.sum__a__y
  END AS DECIMAL(25, 2)),
  idivm__count__a__y = v.idivm__count__a__y + d.count__a__y,
  idivm__sum__a__z = CAST(CASE
    WHEN (v.idivm__count__a__z + d.count__a__z) = 0
    THEN NULL
    ELSE COALESCE(v.idivm__sum__a__z, 0) + d.sum__a__z
  END AS DECIMAL(22, 0)),
  idivm__count__a__z = v.idivm__count__a__z + d.count__a__z
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (
  x,
  m,
  n,
  idivm__count__rows,
  idivm__sum__a__y,
  idivm__count__a__y,
  idivm__sum__a__z,
  idivm__count__a__z
) VALUES (
  d.a__x,
  CASE
    WHEN (d.count__a__y) = 0
    THEN NULL
    ELSE CAST(CAST(CAST(CASE WHEN (
      d.count__a__y
    ) = 0 THEN NULL ELSE d.sum__a__y END AS DECIMAL(25, 2)) AS DECIMAL(34, 2)) / CAST(d.count__a__y AS DECIMAL(20, 0)) AS DECIMAL(19, 6))
  END,
  ROUND(
    CASE
      WHEN (d.count__a__z) = 0
      THEN NULL
      ELSE CAST(CAST(CAST(CASE WHEN (
        d.count__a__z
      ) = 0 THEN NULL ELSE d.sum__a__z END AS DECIMAL(22, 0)) AS DECIMAL(32, 0)) / (
        CAST(d.count__a__z AS DECIMAL(20, 0)) * 100
      ) * 100 AS DECIMAL(16, 4))
    END,
    1
  ),
  d.count__rows,
  CAST(CASE WHEN (d.count__a__y) = 0 THEN NULL ELSE d.sum__a__y END AS DECIMAL(25, 2)),
  d.count__a__y,
  CAST(CASE WHEN (d.count__a__z) = 0 THEN NULL ELSE d.sum__a__z END AS DECIMAL(22, 0)),
  d.count__a__z
);

-- title
-- Additive sums of wide types: what is negated is given a type that holds it, and the stored sum keeps its own

-- schema
CREATE TABLE t0 (k INT, x INT, y BIGINT, z DECIMAL(10, 2), w DECIMAL(38, 10), PRIMARY KEY (k));

-- view
SELECT a.x, sum(a.y) AS s, sum(a.z) AS t, sum(a.w) AS u FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 0, 0, 0), (2, 2, 0, 0.5, 0.5), (3, 2, 0, 0, NULL);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4, 4, 4);

-- ids
-- π a__x, v__s, v__t, v__u, count__rows, count__a__y, count__a__z, count__a__w   [ID: a__x]
--   γ a__x; SUM(a__y) → v__s, SUM(a__z) → v__t, SUM(a__w) → v__u, COUNT(*) → count__rows, COUNT(a__y) → count__a__y, COUNT(a__z) → count__a__z, COUNT(a__w) → count__a__w   [ID: a__x]
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
-- additive_count  (COUNT(a__w) → count__a__w)
-- additive_sum_bigint  (SUM(a__y) → v__s)
-- additive_sum_decimal  (SUM(a__z) → v__t)
-- additive_sum_wide  (SUM(a__w) → v__u)

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
      v.t AS v__t,
      v.u AS v__u,
      v.idivm__count__rows AS count__rows,
      v.idivm__count__a__y AS count__a__y,
      v.idivm__count__a__z AS count__a__z,
      v.idivm__count__a__w AS count__a__w,
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
      groups.v__s,
      groups.v__t,
      groups.v__u,
      groups.count__rows,
      groups.count__a__y,
      groups.count__a__z,
      groups.count__a__w
    FROM (
      SELECT
        a.x AS a__x,
        SUM(a.y) AS v__s,
        SUM(a.z) AS v__t,
        SUM(a.w) AS v__u,
        COUNT(*) AS count__rows,
        COUNT(a.y) AS count__a__y,
        COUNT(a.z) AS count__a__z,
        COUNT(a.w) AS count__a__w
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__t ELSE old_rows.v__t END AS v__t,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__u ELSE old_rows.v__u END AS v__u,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__rows ELSE old_rows.count__rows END AS count__rows,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__y ELSE old_rows.count__a__y END AS count__a__y,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__z ELSE old_rows.count__a__z END AS count__a__z,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__w ELSE old_rows.count__a__w END AS count__a__w
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
        AND old_rows.v__t IS NOT DISTINCT FROM new_rows.v__t
        AND old_rows.v__u IS NOT DISTINCT FROM new_rows.v__u
        AND old_rows.count__rows IS NOT DISTINCT FROM new_rows.count__rows
        AND old_rows.count__a__y IS NOT DISTINCT FROM new_rows.count__a__y
        AND old_rows.count__a__z IS NOT DISTINCT FROM new_rows.count__a__z
        AND old_rows.count__a__w IS NOT DISTINCT FROM new_rows.count__a__w
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET
  s = d.v__s,
  t = d.v__t,
  u = d.v__u,
  idivm__count__rows = d.count__rows,
  idivm__count__a__y = d.count__a__y,
  idivm__count__a__z = d.count__a__z,
  idivm__count__a__w = d.count__a__w
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (
  x,
  s,
  t,
  u,
  idivm__count__rows,
  idivm__count__a__y,
  idivm__count__a__z,
  idivm__count__a__w
) VALUES (d.a__x, d.v__s, d.v__t, d.v__u, d.count__rows, d.count__a__y, d.count__a__z, d.count__a__w);
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT
    change.a__x,
    change.count__rows,
    change.count__a__y,
    change.count__a__z,
    change.count__a__w,
    change.v__s,
    change.v__t,
    change.v__u
  FROM (
    SELECT
      d_signed__a.a__x,
      SUM(d_signed__a.idivm_sign) AS count__rows,
      SUM(CASE WHEN d_signed__a.a__y IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) AS count__a__y,
      SUM(CASE WHEN d_signed__a.a__z IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) AS count__a__z,
      SUM(CASE WHEN d_signed__a.a__w IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) AS count__a__w,
      COALESCE(
        SUM(
          CASE
            WHEN d_signed__a.idivm_sign > 0
            THEN CAST(d_signed__a.a__y AS DECIMAL(20, 0))
            ELSE -CAST(d_signed__a.a__y AS DECIMAL(20, 0))
          END
        ),
        0
      ) AS v__s,
      COALESCE(SUM(CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__z ELSE -d_signed__a.a__z END), 0) AS v__t,
      COALESCE(
        SUM(
          CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__w ELSE 0 - CAST(d_signed__a.a__w AS DECIMAL(37, 10))
          END
        ),
        0
      ) AS v__u
    FROM d_signed__a
    GROUP BY d_signed__a.a__x
    HAVING
      SUM(d_signed__a.idivm_sign) <> 0
      OR SUM(CASE WHEN d_signed__a.a__y IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) <> 0
      OR SUM(CASE WHEN d_signed__a.a__z IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) <> 0
      OR SUM(CASE WHEN d_signed__a.a__w IS NULL THEN 0 ELSE d_signed__a.idivm_sign END) <> 0
      OR COALESCE(
        SUM(
          CASE
            WHEN d_signed__a.idivm_sign > 0
            THEN CAST(d_signed__a.a__y AS DECIMAL(20, 0))
            ELSE -CAST(d_signed__a.a__y AS DECIMAL(20, 0))
          END
        ),
        0
      ) <> 0
      OR COALESCE(SUM(CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__z ELSE -d_signed__a.a__z END), 0) <> 0
      OR COALESCE(
        SUM(
          CASE WHEN d_signed__a.idivm_sign > 0 THEN d_signed__a.a__w ELSE 0 - CAST(d_signed__a.a__w AS DECIMAL(37, 10))
          END
        ),
        0
      ) <> 0
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  s = CASE WHEN (v.idivm__count__a__y + d.count__a__y) = 0 THEN NULL ELSE CAST(COALESCE(v.s, 0) + d.v__s AS BIGINT)
  END,
  t = CAST(CASE WHEN (v.idivm__count__a__z + d.count__a__z) = 0 THEN NULL ELSE COALESCE(v.t, 0) + d.v__t
  END AS DECIMAL(20, 2)),
  u = CAST(CASE
    WHEN (v.idivm__count__a__w + d.count__a__w) = 0
    THEN NULL
    ELSE COALESCE(CAST(v.u AS DECIMAL(37, 10)), 0) + CAST(d.v__u AS DECIMAL(37, 10))
  END AS DECIMAL(38, 10)),
  idivm__count__rows = v.idivm__count__rows + d.count__rows,
  idivm__count__a__y = v.idivm__count__a__y + d.count__a__y,
  idivm__count__a__z = v.idivm__count__a__z + d.count__a__z,
  idivm__count__a__w = v.idivm__count__a__w + d.count__a__w
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (
  x,
  s,
  t,
  u,
  idivm__count__rows,
  idivm__count__a__y,
  idivm__count__a__z,
  idivm__count__a__w
) VALUES (
  d.a__x,
  CASE WHEN (d.count__a__y) = 0 THEN NULL ELSE CAST(d.v__s AS BIGINT) END,
  CAST(CASE WHEN (d.count__a__z) = 0 THEN NULL ELSE d.v__t END AS DECIMAL(20, 2)),
  CAST(CASE WHEN (d.count__a__w) = 0 THEN NULL ELSE CAST(d.v__u AS DECIMAL(37, 10)) END AS DECIMAL(38, 10)),
  d.count__rows,
  d.count__a__y,
  d.count__a__z,
  d.count__a__w
);

-- title
-- Additive: calls that the select list has inside expressions only are stored in hidden columns

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.x, sum(a.y) / nullif(sum(a.z), 0) AS q, coalesce(max(a.y), 0) AS m FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 5, 2), (2, 2, 7, 0), (3, 2, 8, 1), (4, 3, NULL, 4);
-- then
UPDATE t0 SET y = 9 WHERE k = 1;
UPDATE t0 SET z = 2 WHERE k = 2;
DELETE FROM t0 WHERE k = 4;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (5, 4, 4, 4), (6, 1, 1, 1);

-- ids
-- π a__x, count__rows, count__a__y, count__a__z, v__sum_y, v__sum_z, v__max_y, v__sum_y / NULLIF(v__sum_z, 0) → v__q, COALESCE(v__max_y, 0) → v__m   [ID: a__x]
--   γ a__x; SUM(a__y) → v__sum_y, SUM(a__z) → v__sum_z, MAX(a__y) → v__max_y, COUNT(*) → count__rows, COUNT(a__y) → count__a__y, COUNT(a__z) → count__a__z   [ID: a__x]
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
-- additive_sum  (SUM(a__y) → v__sum_y)
-- additive_sum  (SUM(a__z) → v__sum_z)
-- additive_max  (MAX(a__y) → v__max_y)

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
      v.q AS v__q,
      v.m AS v__m,
      v.idivm__count__rows AS count__rows,
      v.idivm__count__a__y AS count__a__y,
      v.idivm__count__a__z AS count__a__z,
      v.idivm__v__sum_y AS v__sum_y,
      v.idivm__v__sum_z AS v__sum_z,
      v.idivm__v__max_y AS v__max_y,
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
      groups.v__sum_y / NULLIF(groups.v__sum_z, 0) AS v__q,
      COALESCE(groups.v__max_y, 0) AS v__m,
      groups.count__rows,
      groups.count__a__y,
      groups.count__a__z,
      groups.v__sum_y,
      groups.v__sum_z,
      groups.v__max_y
    FROM (
      SELECT
        a.x AS a__x,
        SUM(a.y) AS v__sum_y,
        SUM(a.z) AS v__sum_z,
        MAX(a.y) AS v__max_y,
        COUNT(*) AS count__rows,
        COUNT(a.y) AS count__a__y,
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__q ELSE old_rows.v__q END AS v__q,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__m ELSE old_rows.v__m END AS v__m,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__rows ELSE old_rows.count__rows END AS count__rows,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__y ELSE old_rows.count__a__y END AS count__a__y,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__a__z ELSE old_rows.count__a__z END AS count__a__z,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__sum_y ELSE old_rows.v__sum_y END AS v__sum_y,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__sum_z ELSE old_rows.v__sum_z END AS v__sum_z,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__max_y ELSE old_rows.v__max_y END AS v__max_y
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN CAST(old_rows.v__q AS STRING) IS NOT DISTINCT FROM CAST(new_rows.v__q AS STRING)
        AND old_rows.v__m IS NOT DISTINCT FROM new_rows.v__m
        AND old_rows.count__rows IS NOT DISTINCT FROM new_rows.count__rows
        AND old_rows.count__a__y IS NOT DISTINCT FROM new_rows.count__a__y
        AND old_rows.count__a__z IS NOT DISTINCT FROM new_rows.count__a__z
        AND old_rows.v__sum_y IS NOT DISTINCT FROM new_rows.v__sum_y
        AND old_rows.v__sum_z IS NOT DISTINCT FROM new_rows.v__sum_z
        AND old_rows.v__max_y IS NOT DISTINCT FROM new_rows.v__max_y
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET
  q = d.v__q,
  m = d.v__m,
  idivm__count__rows = d.count__rows,
  idivm__count__a__y = d.count__a__y,
  idivm__count__a__z = d.count__a__z,
  idivm__v__sum_y = d.v__sum_y,
  idivm__v__sum_z = d.v__sum_z,
  idivm__v__max_y = d.v__max_y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (
  x,
  q,
  m,
  idivm__count__rows,
  idivm__count__a__y,
  idivm__count__a__z,
  idivm__v__sum_y,
  idivm__v__sum_z,
  idivm__v__max_y
) VALUES (d.a__x, d.v__q, d.v__m, d.count__rows, d.count__a__y, d.count__a__z, d.v__sum_y, d.v__sum_z, d.v__max_y);
-- ask, for lost_groups: which of the changed groups have lost v__max_y
SELECT d.a__x AS c1, d.idivm_lost AS c2, TYPEOF(d.a__x) AS t1, TYPEOF(d.idivm_lost) AS t2
FROM (
  SELECT d.a__x AS a__x, TRUE AS idivm_lost
  FROM (
    SELECT
      netted_rows.a__x,
      SUM(netted_rows.idivm_sign) AS count__rows,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS idivm_came_1,
      MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) AS idivm_gone_1
    FROM (
      SELECT
        signed_rows.a__k,
        signed_rows.a__x,
        signed_rows.a__y,
        signed_rows.a__z,
        signed_rows.idivm_sign,
        SUM(signed_rows.idivm_sign) OVER (PARTITION BY signed_rows.a__x, signed_rows.a__y) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.a__z, d_signed__a.idivm_sign
        FROM d_signed__a
      ) AS signed_rows
    ) AS netted_rows
    GROUP BY netted_rows.a__x
    HAVING NOT MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) IS NULL) AS d
  JOIN maintained AS v ON v.x IS NOT DISTINCT FROM d.a__x
  WHERE
    (
      COALESCE(d.idivm_gone_1 >= v.idivm__v__max_y, NOT d.idivm_gone_1 IS NULL)
      AND NOT COALESCE(d.idivm_came_1 >= v.idivm__v__max_y, FALSE)
    )
    AND v.idivm__count__rows + d.count__rows <> 0
) AS d
ORDER BY c1
LIMIT 1001;
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT
    change.a__x,
    change.count__rows,
    change.count__a__y,
    change.count__a__z,
    change.v__sum_y,
    change.v__sum_z,
    change.v__max_y,
    change.idivm_anew
  FROM (
    SELECT
      netted_rows.a__x,
      SUM(netted_rows.idivm_sign) AS count__rows,
      SUM(CASE WHEN netted_rows.a__y IS NULL THEN 0 ELSE netted_rows.idivm_sign END) AS count__a__y,
      SUM(CASE WHEN netted_rows.a__z IS NULL THEN 0 ELSE netted_rows.idivm_sign END) AS count__a__z,
      COALESCE(
        SUM(
          CASE
            WHEN netted_rows.idivm_sign > 0
            THEN CAST(netted_rows.a__y AS BIGINT)
            ELSE -CAST(netted_rows.a__y AS BIGINT)
          END
        ),
        0
      ) AS v__sum_y,
      COALESCE(
        SUM(
          CASE
            WHEN netted_rows.idivm_sign > 0
            THEN CAST(netted_rows.a__z AS BIGINT)
            ELSE -CAST(netted_rows.a__z AS BIGINT)
          END
        ),
        0
      ) AS v__sum_z,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS v__max_y,
      FALSE AS idivm_anew
    FROM (
      SELECT
        signed_rows.a__k,
        signed_rows.a__x,
        signed_rows.a__y,
        signed_rows.a__z,
        signed_rows.idivm_sign,
        SUM(signed_rows.idivm_sign) OVER (PARTITION BY signed_rows.a__x, signed_rows.a__y) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.a__z, d_signed__a.idivm_sign
        FROM d_signed__a
        WHERE
          NOT EXISTS(SELECT 1 FROM lost_groups WHERE lost_groups.a__x IS NOT DISTINCT FROM d_signed__a.a__x)
      ) AS signed_rows
    ) AS netted_rows
    GROUP BY netted_rows.a__x
    HAVING
      SUM(netted_rows.idivm_sign) <> 0
      OR SUM(CASE WHEN netted_rows.a__y IS NULL THEN 0 ELSE netted_rows.idivm_sign END) <> 0
      OR SUM(CASE WHEN netted_rows.a__z IS NULL THEN 0 ELSE netted_rows.idivm_sign END) <> 0
      OR COALESCE(
        SUM(
          CASE
            WHEN netted_rows.idivm_sign > 0
            THEN CAST(netted_rows.a__y AS BIGINT)
            ELSE -CAST(netted_rows.a__y AS BIGINT)
          END
        ),
        0
      ) <> 0
      OR COALESCE(
        SUM(
          CASE
            WHEN netted_rows.idivm_sign > 0
            THEN CAST(netted_rows.a__z AS BIGINT)
            ELSE -CAST(netted_rows.a__z AS BIGINT)
          END
        ),
        0
      ) <> 0
      OR NOT MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) IS NULL
    UNION ALL
    SELECT
      groups.a__x,
      groups.count__rows,
      groups.count__a__y,
      groups.count__a__z,
      groups.v__sum_y,
      groups.v__sum_z,
      groups.v__max_y,
      TRUE AS idivm_anew
    FROM (
      SELECT
        a.x AS a__x,
        SUM(a.y) AS v__sum_y,
        SUM(a.z) AS v__sum_z,
        MAX(a.y) AS v__max_y,
        COUNT(*) AS count__rows,
        COUNT(a.y) AS count__a__y,
        COUNT(a.z) AS count__a__z
      FROM t0 AS a
      WHERE EXISTS(SELECT 1 FROM lost_groups AS lost_groups_2 WHERE lost_groups_2.a__x IS NOT DISTINCT FROM a.x)
      GROUP BY a.x) AS groups
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  q = CASE
    WHEN (CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__a__y END + d.count__a__y) = 0
    THEN NULL
    ELSE COALESCE(CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__v__sum_y END, 0) + d.v__sum_y
  END / NULLIF(
    CASE
      WHEN (CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__a__z END + d.count__a__z) = 0
      THEN NULL
      ELSE COALESCE(CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__v__sum_z END, 0) + d.v__sum_z
    END,
    0
  ),
  m = COALESCE(GREATEST(CASE WHEN d.idivm_anew THEN NULL ELSE v.idivm__v__max_y END, d.v__max_y), 0),
  idivm__count__rows = CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__rows END + d.count__rows,
  idivm__count__a__y = CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__a__y END + d.count__a__y,
  idivm__count__a__z = CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__a__z END + d.count__a__z,
  idivm__v__sum_y = CASE
    WHEN (CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__a__y END + d.count__a__y) = 0
    THEN NULL
    ELSE COALESCE(CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__v__sum_y END, 0) + d.v__sum_y
  END,
  idivm__v__sum_z = CASE
    WHEN (CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__a__z END + d.count__a__z) = 0
    THEN NULL
    ELSE COALESCE(CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__v__sum_z END, 0) + d.v__sum_z
  END,
  idivm__v__max_y = GREATEST(CASE WHEN d.idivm_anew THEN NULL ELSE v.idivm__v__max_y END, d.v__max_y)
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (
  x,
  q,
  m,
  idivm__count__rows,
  idivm__count__a__y,
  idivm__count__a__z,
  idivm__v__sum_y,
  idivm__v__sum_z,
  idivm__v__max_y
) VALUES (
  d.a__x,
  CASE WHEN (d.count__a__y) = 0 THEN NULL ELSE d.v__sum_y END / NULLIF(CASE WHEN (
    d.count__a__z
  ) = 0 THEN NULL ELSE d.v__sum_z END, 0),
  COALESCE(d.v__max_y, 0),
  d.count__rows,
  d.count__a__y,
  d.count__a__z,
  CASE WHEN (d.count__a__y) = 0 THEN NULL ELSE d.v__sum_y END,
  CASE WHEN (d.count__a__z) = 0 THEN NULL ELSE d.v__sum_z END,
  d.v__max_y
);

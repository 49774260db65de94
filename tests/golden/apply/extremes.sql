-- title
-- Additive: minima and maxima; the groups that have lost one are asked for first, and recomputed in the same MERGE

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, b BOOLEAN, PRIMARY KEY (k));

-- view
SELECT a.x, min(a.y) AS m, max(a.y) AS n, bool_and(a.b) AS c, bool_or(a.b) AS d FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 0, TRUE), (2, 2, 0, FALSE), (3, 2, 1, NULL), (4, 2, 2, TRUE);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (5, 4, 4, TRUE), (6, 2, 1, FALSE);

-- ids
-- π a__x, v__m, v__n, v__c, v__d, count__rows   [ID: a__x]
--   γ a__x; MIN(a__y) → v__m, MAX(a__y) → v__n, BOOL_AND(a__b) → v__c, BOOL_OR(a__b) → v__d, COUNT(*) → count__rows   [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → count__rows)
-- additive_min  (MIN(a__y) → v__m)
-- additive_max  (MAX(a__y) → v__n)
-- additive_bool_and  (BOOL_AND(a__b) → v__c)
-- additive_bool_or  (BOOL_OR(a__b) → v__d)

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
      v.c AS v__c,
      v.d AS v__d,
      v.idivm__count__rows AS count__rows,
      named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT groups.a__x, groups.v__m, groups.v__n, groups.v__c, groups.v__d, groups.count__rows
    FROM (
      SELECT
        a.x AS a__x,
        MIN(a.y) AS v__m,
        MAX(a.y) AS v__n,
        BOOL_AND(a.b) AS v__c,
        BOOL_OR(a.b) AS v__d,
        COUNT(*) AS count__rows
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__c ELSE old_rows.v__c END AS v__c,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__d ELSE old_rows.v__d END AS v__d,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__rows ELSE old_rows.count__rows END AS count__rows
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
        AND old_rows.v__c IS NOT DISTINCT FROM new_rows.v__c
        AND old_rows.v__d IS NOT DISTINCT FROM new_rows.v__d
        AND old_rows.count__rows IS NOT DISTINCT FROM new_rows.count__rows
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET
  m = d.v__m,
  n = d.v__n,
  c = d.v__c,
  d = d.v__d,
  idivm__count__rows = d.count__rows
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, m, n, c, d, idivm__count__rows) VALUES (d.a__x, d.v__m, d.v__n, d.v__c, d.v__d, d.count__rows);
-- ask, for lost_groups: which of the changed groups have lost v__m or v__n or v__c or v__d
SELECT d.a__x AS c1, d.idivm_lost AS c2, TYPEOF(d.a__x) AS t1, TYPEOF(d.idivm_lost) AS t2
FROM (
  SELECT d.a__x AS a__x, TRUE AS idivm_lost
  FROM (
    SELECT
      netted_rows.a__x,
      SUM(netted_rows.idivm_sign) AS count__rows,
      MIN(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS idivm_came_1,
      MIN(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) AS idivm_gone_1,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS idivm_came_2,
      MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) AS idivm_gone_2,
      MIN(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__b END) AS idivm_came_3,
      MIN(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__b END) AS idivm_gone_3,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__b END) AS idivm_came_4,
      MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__b END) AS idivm_gone_4
    FROM (
      SELECT
        signed_rows.a__k,
        signed_rows.a__x,
        signed_rows.a__y,
        signed_rows.a__b,
        signed_rows.idivm_sign,
        SUM(signed_rows.idivm_sign) OVER (PARTITION BY signed_rows.a__x, signed_rows.a__y, signed_rows.a__b) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.a__b, d_signed__a.idivm_sign
        FROM d_signed__a
      ) AS signed_rows
    ) AS netted_rows
    GROUP BY netted_rows.a__x
    HAVING
      NOT MIN(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) IS NULL
      OR NOT MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) IS NULL
      OR NOT MIN(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__b END) IS NULL
      OR NOT MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__b END) IS NULL
  ) AS d
  JOIN maintained AS v ON v.x IS NOT DISTINCT FROM d.a__x
  WHERE
    (
      (COALESCE(d.idivm_gone_1 <= v.m, NOT d.idivm_gone_1 IS NULL) AND NOT COALESCE(d.idivm_came_1 <= v.m, FALSE))
      OR (COALESCE(d.idivm_gone_2 >= v.n, NOT d.idivm_gone_2 IS NULL) AND NOT COALESCE(d.idivm_came_2 >= v.n, FALSE))
      OR (COALESCE(d.idivm_gone_3 <= v.c, NOT d.idivm_gone_3 IS NULL) AND NOT COALESCE(d.idivm_came_3 <= v.c, FALSE))
      OR (COALESCE(d.idivm_gone_4 >= v.d, NOT d.idivm_gone_4 IS NULL) AND NOT COALESCE(d.idivm_came_4 >= v.d, FALSE))
    )
    AND v.idivm__count__rows + d.count__rows <> 0
) AS d
ORDER BY c1
LIMIT 1001;
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT change.a__x, change.count__rows, change.v__m, change.v__n, change.v__c, change.v__d, change.idivm_anew
  FROM (
    SELECT
      netted_rows.a__x,
      SUM(netted_rows.idivm_sign) AS count__rows,
      MIN(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS v__m,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS v__n,
      MIN(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__b END) AS v__c,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__b END) AS v__d,
      FALSE AS idivm_anew
    FROM (
      SELECT
        signed_rows.a__k,
        signed_rows.a__x,
        signed_rows.a__y,
        signed_rows.a__b,
        signed_rows.idivm_sign,
        SUM(signed_rows.idivm_sign) OVER (PARTITION BY signed_rows.a__x, signed_rows.a__y, signed_rows.a__b) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.a__b, d_signed__a.idivm_sign
        FROM d_signed__a
        WHERE
          NOT EXISTS(SELECT 1 FROM lost_groups WHERE lost_groups.a__x IS NOT DISTINCT FROM d_signed__a.a__x)
      ) AS signed_rows
    ) AS netted_rows
    GROUP BY netted_rows.a__x
    HAVING
      SUM(netted_rows.idivm_sign) <> 0
      OR NOT MIN(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) IS NULL
      OR NOT MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) IS NULL
      OR NOT MIN(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__b END) IS NULL
      OR NOT MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__b END) IS NULL
    UNION ALL
    SELECT groups.a__x, groups.count__rows, groups.v__m, groups.v__n, groups.v__c, groups.v__d, TRUE AS idivm_anew
    FROM (
      SELECT
        a.x AS a__x,
        MIN(a.y) AS v__m,
        MAX(a.y) AS v__n,
        BOOL_AND(a.b) AS v__c,
        BOOL_OR(a.b) AS v__d,
        COUNT(*) AS count__rows
      FROM t0 AS a
      WHERE EXISTS(SELECT 1 FROM lost_groups AS lost_groups_2 WHERE lost_groups_2.a__x IS NOT DISTINCT FROM a.x)
      GROUP BY a.x) AS groups
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  m = LEAST(CASE WHEN d.idivm_anew THEN NULL ELSE v.m END, d.v__m),
  n = GREATEST(CASE WHEN d.idivm_anew THEN NULL ELSE v.n END, d.v__n),
  c = LEAST(CASE WHEN d.idivm_anew THEN NULL ELSE v.c END, d.v__c),
  d = GREATEST(CASE WHEN d.idivm_anew THEN NULL ELSE v.d END, d.v__d),
  idivm__count__rows = CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__rows END + d.count__rows
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (x, m, n, c, d, idivm__count__rows) VALUES (d.a__x, d.v__m, d.v__n, d.v__c, d.v__d, d.count__rows);

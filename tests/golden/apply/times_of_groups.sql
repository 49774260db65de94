-- title
-- Time of writing of a group: only an update whose values differ writes it, because a changed row may leave a maximum as it is

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT a.x, max(a.y) AS m, current_timestamp() AS loaded_at FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 8);
-- then
UPDATE t0 SET y = 5 WHERE k = 2;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4);

-- ids
-- π a__x, v__m, count__rows   [ID: a__x]
--   γ a__x; MAX(a__y) → v__m, COUNT(*) → count__rows   [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → count__rows)
-- additive_max  (MAX(a__y) → v__m)

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
    SELECT v.x AS a__x, v.m AS v__m, v.idivm__count__rows AS count__rows, named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT groups.a__x, groups.v__m, groups.count__rows
    FROM (
      SELECT a.x AS a__x, MAX(a.y) AS v__m, COUNT(*) AS count__rows
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
        AND old_rows.count__rows IS NOT DISTINCT FROM new_rows.count__rows
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U'
AND NOT (v.m IS NOT DISTINCT FROM d.v__m AND v.idivm__count__rows IS NOT DISTINCT FROM d.count__rows) THEN UPDATE SET
  m = d.v__m,
  loaded_at = CURRENT_TIMESTAMP(),
  idivm__count__rows = d.count__rows
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, m, loaded_at, idivm__count__rows) VALUES (d.a__x, d.v__m, CURRENT_TIMESTAMP(), d.count__rows);
-- ask, for lost_groups: which of the changed groups have lost v__m
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
        signed_rows.idivm_sign,
        SUM(signed_rows.idivm_sign) OVER (PARTITION BY signed_rows.a__x, signed_rows.a__y) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.idivm_sign
        FROM d_signed__a
      ) AS signed_rows
    ) AS netted_rows
    GROUP BY netted_rows.a__x
    HAVING NOT MAX(CASE WHEN netted_rows.idivm_weight < 0 THEN netted_rows.a__y END) IS NULL) AS d
  JOIN maintained AS v ON v.x IS NOT DISTINCT FROM d.a__x
  WHERE
    (COALESCE(d.idivm_gone_1 >= v.m, NOT d.idivm_gone_1 IS NULL) AND NOT COALESCE(d.idivm_came_1 >= v.m, FALSE))
    AND v.idivm__count__rows + d.count__rows <> 0
) AS d
ORDER BY c1
LIMIT 1001;
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT change.a__x, change.count__rows, change.v__m, change.idivm_anew
  FROM (
    SELECT
      netted_rows.a__x,
      SUM(netted_rows.idivm_sign) AS count__rows,
      MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) AS v__m,
      FALSE AS idivm_anew
    FROM (
      SELECT
        signed_rows.a__k,
        signed_rows.a__x,
        signed_rows.a__y,
        signed_rows.idivm_sign,
        SUM(signed_rows.idivm_sign) OVER (PARTITION BY signed_rows.a__x, signed_rows.a__y) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.idivm_sign
        FROM d_signed__a
        WHERE
          NOT EXISTS(SELECT 1 FROM lost_groups WHERE lost_groups.a__x IS NOT DISTINCT FROM d_signed__a.a__x)
      ) AS signed_rows
    ) AS netted_rows
    GROUP BY netted_rows.a__x
    HAVING
      SUM(netted_rows.idivm_sign) <> 0
      OR NOT MAX(CASE WHEN netted_rows.idivm_weight > 0 THEN netted_rows.a__y END) IS NULL
    UNION ALL
    SELECT groups.a__x, groups.count__rows, groups.v__m, TRUE AS idivm_anew
    FROM (
      SELECT a.x AS a__x, MAX(a.y) AS v__m, COUNT(*) AS count__rows
      FROM t0 AS a
      WHERE EXISTS(SELECT 1 FROM lost_groups AS lost_groups_2 WHERE lost_groups_2.a__x IS NOT DISTINCT FROM a.x)
      GROUP BY a.x) AS groups
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.count__rows < 0 AND v.idivm__count__rows + d.count__rows = 0 THEN DELETE
WHEN MATCHED AND NOT (
  v.m IS NOT DISTINCT FROM GREATEST(CASE WHEN d.idivm_anew THEN NULL ELSE v.m END, d.v__m)
  AND v.idivm__count__rows IS NOT DISTINCT FROM (
    CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__rows END + d.count__rows
  )
) THEN UPDATE SET
  m = GREATEST(CASE WHEN d.idivm_anew THEN NULL ELSE v.m END, d.v__m),
  loaded_at = CURRENT_TIMESTAMP(),
  idivm__count__rows = CASE WHEN d.idivm_anew THEN 0 ELSE v.idivm__count__rows END + d.count__rows
WHEN NOT MATCHED AND d.count__rows > 0 THEN INSERT (x, m, loaded_at, idivm__count__rows) VALUES (d.a__x, d.v__m, CURRENT_TIMESTAMP(), d.count__rows);

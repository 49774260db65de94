-- title
-- ω of running sums: rows that come last in their partitions continue the values of the last stored rows; late partitions are recomputed

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.z, SUM(a.z) OVER (PARTITION BY a.x ORDER BY a.y) AS s FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1, 1, 5), (2, 1, 2, NULL), (3, 2, 7, 1);
-- then
INSERT INTO t0 VALUES (4, 1, 3, 4), (5, 3, 4, 4);
-- then
INSERT INTO t0 VALUES (6, 1, 3, 1), (7, 2, 9, 2), (8, NULL, 9, 2);
-- then
DELETE FROM t0 WHERE k = 4;

-- ids
-- π a__k, a__z, v__s, a__x, a__y   [ID: a__k]
--   ω a__x; SUM(a__z) OVER (ORDER BY a__y) → v__s   [ID: a__k]
--     scan t0 as a   [ID: a__k]

-- rules
-- window_ins  (ins → 1)
-- window_del  (del → 1)
-- window_rec  (rec → 1)
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
        SELECT d_rec__a.a__x
        FROM d_rec__a
      ) AS united
    ) AS keys
  ), old_rows AS (
    SELECT
      v.k AS a__k,
      v.z AS a__z,
      v.s AS v__s,
      v.idivm__a__x AS a__x,
      v.idivm__a__y AS a__y,
      named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.idivm__a__x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT windows.a__k, windows.a__z, windows.v__s, windows.a__x, windows.a__y
    FROM (
      SELECT
        `partitions`.a__k,
        `partitions`.a__x,
        `partitions`.a__y,
        `partitions`.a__z,
        SUM(`partitions`.a__z) OVER (PARTITION BY `partitions`.a__x ORDER BY `partitions`.a__y) AS v__s
      FROM (
        SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y, a.z AS a__z
        FROM t0 AS a
        WHERE
          EXISTS(SELECT 1 FROM v_rec__a AS v_rec__a_2 WHERE v_rec__a_2.a__x IS NOT DISTINCT FROM a.x)
      ) AS `partitions`
    ) AS windows
  )
  SELECT
    CASE
      WHEN old_rows.idivm_hit IS NULL
      THEN 'I'
      WHEN old_rows.idivm_dead AND new_rows.idivm_hit IS NULL
      THEN 'D'
      ELSE 'U'
    END AS idivm_op,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__k ELSE old_rows.a__k END AS a__k,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__z ELSE old_rows.a__z END AS a__z,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__s ELSE old_rows.v__s END AS v__s,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__x ELSE old_rows.a__x END AS a__x,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__y ELSE old_rows.a__y END AS a__y
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__k IS NOT DISTINCT FROM new_rows.a__k
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN old_rows.a__z IS NOT DISTINCT FROM new_rows.a__z
        AND old_rows.v__s IS NOT DISTINCT FROM new_rows.v__s
        AND old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
        AND old_rows.a__y IS NOT DISTINCT FROM new_rows.a__y
        ELSE TRUE
      END
    )
) AS d
ON v.k IS NOT DISTINCT FROM d.a__k
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET z = d.a__z, s = d.v__s, idivm__a__x = d.a__x, idivm__a__y = d.a__y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (k, z, s, idivm__a__x, idivm__a__y) VALUES (d.a__k, d.a__z, d.v__s, d.a__x, d.a__y);
-- ask, for late_partitions: which partitions get a row that does not come after the last stored one
WITH changed_rows AS (
  SELECT net_rows.a__k, net_rows.a__z, net_rows.a__x, net_rows.a__y, net_rows.v__s, net_rows.idivm_weight
  FROM (
    SELECT a__k AS a__k, a__z AS a__z, a__x AS a__x, a__y AS a__y, v__s AS v__s, SUM(idivm_sign) AS idivm_weight
    FROM (
      SELECT
        d_signed__a.a__k,
        d_signed__a.a__z,
        d_signed__a.a__x,
        d_signed__a.a__y,
        CAST(d_signed__a.a__z AS BIGINT) AS v__s,
        d_signed__a.idivm_sign
      FROM d_signed__a
    ) AS signed_rows
    GROUP BY a__k, a__z, a__x, a__y, v__s
    HAVING SUM(idivm_sign) <> 0) AS net_rows
), last_rows AS (
  SELECT a__x, a__y, v__s
  FROM (
    SELECT /*+ BROADCAST(touched) */
      v.idivm__a__x AS a__x,
      v.idivm__a__y AS a__y,
      v.s AS v__s,
      ROW_NUMBER() OVER (PARTITION BY v.idivm__a__x ORDER BY v.idivm__a__y DESC) AS idivm_place
    FROM maintained AS v
    JOIN (SELECT keys.a__x FROM (SELECT DISTINCT changed_rows.a__x FROM changed_rows) AS keys) AS touched
      ON v.idivm__a__x IS NOT DISTINCT FROM touched.a__x
  ) AS ranked
  WHERE idivm_place = 1)
SELECT d.a__x AS c1, d.idivm_late AS c2, TYPEOF(d.a__x) AS t1, TYPEOF(d.idivm_late) AS t2
FROM (
  SELECT a__x, idivm_late
  FROM (
    SELECT a__x, a__y, v__s, idivm_came > 0 AS idivm_late
    FROM (
      SELECT a__x, a__y, v__s, idivm_stored, SUM(1 - idivm_stored) OVER (PARTITION BY a__x ORDER BY a__y) AS idivm_came
      FROM (
        SELECT last_rows.a__x AS a__x, last_rows.a__y AS a__y, last_rows.v__s AS v__s, 1 AS idivm_stored
        FROM last_rows
        UNION ALL
        SELECT changed_rows_2.a__x, changed_rows_2.a__y, changed_rows_2.v__s, 0 AS idivm_stored
        FROM changed_rows AS changed_rows_2
        WHERE changed_rows_2.idivm_weight > 0) AS candidates
    ) AS counted
    WHERE idivm_stored = 1) AS ranked
  WHERE idivm_late) AS d
ORDER BY c1
LIMIT 1001;
-- apply, where rows only came, and none is late: new rows continue the last stored ones
WITH changed_rows AS (
  SELECT net_rows.a__k, net_rows.a__z, net_rows.a__x, net_rows.a__y, net_rows.v__s, net_rows.idivm_weight
  FROM (
    SELECT a__k AS a__k, a__z AS a__z, a__x AS a__x, a__y AS a__y, v__s AS v__s, SUM(idivm_sign) AS idivm_weight
    FROM (
      SELECT
        d_signed__a.a__k,
        d_signed__a.a__z,
        d_signed__a.a__x,
        d_signed__a.a__y,
        CAST(d_signed__a.a__z AS BIGINT) AS v__s,
        d_signed__a.idivm_sign
      FROM d_signed__a
    ) AS signed_rows
    GROUP BY a__k, a__z, a__x, a__y, v__s
    HAVING SUM(idivm_sign) <> 0) AS net_rows
), last_rows AS (
  SELECT a__x, a__y, v__s
  FROM (
    SELECT /*+ BROADCAST(touched) */
      v.idivm__a__x AS a__x,
      v.idivm__a__y AS a__y,
      v.s AS v__s,
      ROW_NUMBER() OVER (PARTITION BY v.idivm__a__x ORDER BY v.idivm__a__y DESC) AS idivm_place
    FROM maintained AS v
    JOIN (SELECT keys.a__x FROM (SELECT DISTINCT changed_rows.a__x FROM changed_rows) AS keys) AS touched
      ON v.idivm__a__x IS NOT DISTINCT FROM touched.a__x
  ) AS ranked
  WHERE idivm_place = 1), continued_rows AS (
  SELECT continued.a__k, continued.a__z, continued.a__x, continued.a__y, continued.v__s, continued.idivm_stored
  FROM (
    SELECT
      a__k,
      a__z,
      a__x,
      a__y,
      CAST(SUM(v__s) OVER (PARTITION BY a__x ORDER BY a__y) AS BIGINT) AS v__s,
      idivm_stored
    FROM (
      SELECT
        NULL AS a__k,
        NULL AS a__z,
        last_rows.a__x AS a__x,
        last_rows.a__y AS a__y,
        last_rows.v__s AS v__s,
        1 AS idivm_stored
      FROM last_rows
      UNION ALL
      SELECT
        changed_rows_2.a__k,
        changed_rows_2.a__z,
        changed_rows_2.a__x,
        changed_rows_2.a__y,
        changed_rows_2.v__s,
        0 AS idivm_stored
      FROM changed_rows AS changed_rows_2
      WHERE changed_rows_2.idivm_weight > 0) AS candidates
  ) AS continued
)
INSERT INTO maintained (k, z, s, idivm__a__x, idivm__a__y)
SELECT
  continued_rows.a__k AS k,
  continued_rows.a__z AS z,
  continued_rows.v__s AS s,
  continued_rows.a__x AS idivm__a__x,
  continued_rows.a__y AS idivm__a__y
FROM continued_rows
WHERE continued_rows.idivm_stored = 0;

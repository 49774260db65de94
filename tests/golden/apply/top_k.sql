-- title
-- σ_{n ≤ 2} over ω: new rows are ranked with the stored ones; a partition is recomputed only where it may have lost a row that is not stored

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT r.k, r.x, r.n FROM (
  SELECT a.k, a.x, row_number() OVER (PARTITION BY a.x ORDER BY a.y DESC, a.k) AS n FROM t0 AS a
) AS r WHERE r.n <= 2;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 5), (4, 2, 3), (5, NULL, 1);
-- then
INSERT INTO t0 VALUES (6, 2, 9), (7, 3, 1), (8, NULL, 0);
-- then
DELETE FROM t0 WHERE k IN (3, 6);
UPDATE t0 SET x = 1, y = 4 WHERE k = 5;

-- ids
-- π a__k, a__x, r__n, a__y   [ID: a__k]
--   σ r__n <= 2   [ID: a__k]
--     ω a__x; ROW_NUMBER() OVER (ORDER BY a__y DESC, a__k) → r__n   [ID: a__k]
--       scan t0 as a   [ID: a__k]

-- rules
-- window_ins  (ins → 1)
-- window_del  (del → 1)
-- window_rec  (rec → 1)
-- select_rec  (rec → 1)
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
    SELECT v.k AS a__k, v.x AS a__x, v.n AS r__n, v.idivm__a__y AS a__y, named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT windows.a__k, windows.a__x, windows.r__n, windows.a__y
    FROM (
      SELECT
        `partitions`.a__k,
        `partitions`.a__x,
        `partitions`.a__y,
        ROW_NUMBER() OVER (PARTITION BY `partitions`.a__x ORDER BY `partitions`.a__y DESC, `partitions`.a__k) AS r__n
      FROM (
        SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y
        FROM t0 AS a
        WHERE
          EXISTS(SELECT 1 FROM v_rec__a AS v_rec__a_2 WHERE v_rec__a_2.a__x IS NOT DISTINCT FROM a.x)
      ) AS `partitions`
    ) AS windows
    WHERE windows.r__n <= 2)
  SELECT
    CASE
      WHEN old_rows.idivm_hit IS NULL
      THEN 'I'
      WHEN old_rows.idivm_dead AND new_rows.idivm_hit IS NULL
      THEN 'D'
      ELSE 'U'
    END AS idivm_op,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__k ELSE old_rows.a__k END AS a__k,
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__x ELSE old_rows.a__x END AS a__x,
    CASE WHEN new_rows.idivm_hit THEN new_rows.r__n ELSE old_rows.r__n END AS r__n,
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
        THEN old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
        AND old_rows.r__n IS NOT DISTINCT FROM new_rows.r__n
        AND old_rows.a__y IS NOT DISTINCT FROM new_rows.a__y
        ELSE TRUE
      END
    )
) AS d
ON v.k IS NOT DISTINCT FROM d.a__k
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET x = d.a__x, n = d.r__n, idivm__a__y = d.a__y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (k, x, n, idivm__a__y) VALUES (d.a__k, d.a__x, d.r__n, d.a__y);
-- apply, new rows ranked with the stored ones, over all changed inputs
MERGE INTO maintained AS v
USING (
  WITH changed_rows AS (
    SELECT net_rows.a__k, net_rows.a__x, net_rows.a__y, net_rows.idivm_weight
    FROM (
      SELECT a__k AS a__k, a__x AS a__x, a__y AS a__y, SUM(idivm_sign) AS idivm_weight
      FROM (
        SELECT d_signed__a.a__k, d_signed__a.a__x, d_signed__a.a__y, d_signed__a.idivm_sign
        FROM d_signed__a
      ) AS signed_rows
      GROUP BY a__k, a__x, a__y
      HAVING SUM(idivm_sign) <> 0) AS net_rows
  ), v_rec__partitions AS (
    SELECT keys.a__x
    FROM (SELECT DISTINCT changed_rows.a__x FROM changed_rows) AS keys
  ), old_rows AS (
    SELECT v.k AS a__k, v.x AS a__x, v.n AS r__n, v.idivm__a__y AS a__y, named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__partitions.a__x, TRUE AS idivm_dead FROM v_rec__partitions) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), ranked_rows AS (
    SELECT ranked.a__k, ranked.a__x, ranked.a__y, ranked.idivm_place, ranked.idivm_live, ranked.idivm_bound
    FROM (
      SELECT
        a__k,
        a__x,
        a__y,
        idivm_place,
        idivm_live,
        MAX(CASE WHEN idivm_stored = 1 AND idivm_rank = 2 THEN idivm_place END) OVER (PARTITION BY a__x) AS idivm_bound
      FROM (
        SELECT
          a__k,
          a__x,
          a__y,
          idivm_live,
          idivm_stored,
          CAST(SUM(idivm_live) OVER (
            PARTITION BY a__x
            ORDER BY a__y DESC, a__k, idivm_live DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS INT) AS idivm_place,
          CAST(SUM(idivm_stored) OVER (
            PARTITION BY a__x
            ORDER BY a__y DESC, a__k, idivm_live DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS INT) AS idivm_rank
        FROM (
          SELECT
            old_rows.a__k,
            old_rows.a__x,
            old_rows.a__y,
            CASE WHEN gone.idivm_stored IS NULL THEN 1 ELSE 0 END AS idivm_live,
            1 AS idivm_stored
          FROM old_rows
          LEFT JOIN (
            SELECT changed_rows_3.a__k, 1 AS idivm_stored
            FROM changed_rows AS changed_rows_3
            WHERE changed_rows_3.idivm_weight < 0) AS gone
            ON old_rows.a__k IS NOT DISTINCT FROM gone.a__k
          UNION ALL
          SELECT changed_rows_2.a__k, changed_rows_2.a__x, changed_rows_2.a__y, 1 AS idivm_live, 0 AS idivm_stored
          FROM changed_rows AS changed_rows_2
          WHERE changed_rows_2.idivm_weight > 0) AS candidates
      ) AS counted
    ) AS ranked
  ), lost_partitions AS (SELECT ranked_rows.a__x FROM ranked_rows WHERE ranked_rows.idivm_bound < 2), new_rows AS (
    SELECT united.a__k, united.a__x, united.r__n, united.a__y
    FROM (
      SELECT ranked_rows_2.a__k, ranked_rows_2.a__x, CAST(ranked_rows_2.idivm_place AS INT) AS r__n, ranked_rows_2.a__y
      FROM ranked_rows AS ranked_rows_2
      WHERE
        ranked_rows_2.idivm_place <= 2
        AND ranked_rows_2.idivm_live = 1
        AND (ranked_rows_2.idivm_bound IS NULL OR ranked_rows_2.idivm_bound >= 2)
      UNION ALL
      SELECT windows.a__k, windows.a__x, windows.r__n, windows.a__y
      FROM (
        SELECT
          `partitions`.a__k,
          `partitions`.a__x,
          `partitions`.a__y,
          ROW_NUMBER() OVER (PARTITION BY `partitions`.a__x ORDER BY `partitions`.a__y DESC, `partitions`.a__k) AS r__n
        FROM (
          SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y
          FROM t0 AS a
          WHERE
            EXISTS(
              SELECT 1
              FROM (SELECT /*+ BROADCAST(lost_partitions) */ lost_partitions.a__x FROM lost_partitions) AS lost
              WHERE lost.a__x IS NOT DISTINCT FROM a.x)
        ) AS `partitions`
      ) AS windows
      WHERE windows.r__n <= 2) AS united
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.a__x ELSE old_rows.a__x END AS a__x,
    CASE WHEN new_rows.idivm_hit THEN new_rows.r__n ELSE old_rows.r__n END AS r__n,
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
        THEN old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
        AND old_rows.r__n IS NOT DISTINCT FROM new_rows.r__n
        AND old_rows.a__y IS NOT DISTINCT FROM new_rows.a__y
        ELSE TRUE
      END
    )
) AS d
ON v.k IS NOT DISTINCT FROM d.a__k
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET x = d.a__x, n = d.r__n, idivm__a__y = d.a__y
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (k, x, n, idivm__a__y) VALUES (d.a__k, d.a__x, d.r__n, d.a__y);

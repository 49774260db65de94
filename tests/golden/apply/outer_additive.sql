-- title
-- Additive above ⟕: the signed rows of the pairs, and of the padded rows that come and go with the first and the last partner

-- schema
CREATE TABLE t0 (k INT, x INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, t0_k INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.x, count(*) AS n, count(b.k) AS m, sum(b.z) AS s FROM t0 AS a LEFT JOIN t1 AS b ON b.t0_k = a.k GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO t1 VALUES (1, 1, 5), (2, 1, 6);
-- then
DELETE FROM t1 WHERE k = 1;
INSERT INTO t1 VALUES (3, 3, 7);
UPDATE t0 SET x = 2 WHERE k = 2;
-- then
UPDATE t1 SET t0_k = 2;
-- then
DELETE FROM t1;
DELETE FROM t0 WHERE k = 3;

-- ids
-- π a__x, v__n, v__m, v__s, count__b__z   [ID: a__x]
--   γ a__x; COUNT(*) → v__n, COUNT(b__k) → v__m, SUM(b__z) → v__s, COUNT(b__z) → count__b__z   [ID: a__x]
--     ⟕ b__t0_k = a__k   [ID: a__k, b__k, b_2__has_right]
--       scan t0 as a   [ID: a__k]
--       scan t1 as b   [ID: b__k]

-- rules
-- outer_ins  (ins → 1)
-- outer_del  (del → 1)
-- outer_rec  (rec → 1)
-- outer_ins_pads  (ins → 2)
-- outer_del_pads  (del → 2)
-- outer_upd  (upd → 1)
-- outer_rec  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_rec  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_del  (del → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → v__n)
-- additive_count  (COUNT(b__k) → v__m)
-- additive_count  (COUNT(b__z) → count__b__z)
-- additive_sum  (SUM(b__z) → v__s)

-- apply
-- apply, when no i-diff is empty: effective
MERGE INTO maintained AS v
USING (
  WITH v_rec__a_b AS (
    SELECT keys_7.a__x
    FROM (
      SELECT DISTINCT united_3.a__x
      FROM (
        SELECT d_ins__a.a__x
        FROM d_ins__a
        LEFT JOIN (SELECT b.k AS b__k, b.t0_k AS b__t0_k, b.z AS b__z, 1 AS b_2__has_right FROM t1 AS b) AS b_2
          ON b_2.b__t0_k = d_ins__a.a__k
        UNION ALL
        SELECT d_del__a.a__x
        FROM d_del__a
        UNION ALL
        SELECT d_rec__a.a__x
        FROM d_rec__a
        UNION ALL
        SELECT a.x AS a__x
        FROM d_ins__b
        JOIN t0 AS a ON d_ins__b.b__t0_k = a.k
        UNION ALL
        SELECT united.a__x
        FROM (
          SELECT a_3.a__k, a_3.a__x, b_2_2.b_2__has_right
          FROM (
            SELECT a_2.k AS a__k, a_2.x AS a__x
            FROM t0 AS a_2
            WHERE NOT EXISTS(SELECT 1 FROM d_plus__a WHERE d_plus__a.a__k IS NOT DISTINCT FROM a_2.k)
            UNION ALL
            SELECT d_minus__a.a__k, d_minus__a.a__x
            FROM d_minus__a
          ) AS a_3
          LEFT JOIN (
            SELECT b_4.b__k, b_4.b__t0_k, b_4.b__z, 1 AS b_2__has_right
            FROM (
              SELECT b_3.k AS b__k, b_3.t0_k AS b__t0_k, b_3.z AS b__z
              FROM t1 AS b_3
              WHERE NOT EXISTS(SELECT 1 FROM d_plus__b WHERE d_plus__b.b__k IS NOT DISTINCT FROM b_3.k)
              UNION ALL
              SELECT d_minus__b.b__k, d_minus__b.b__t0_k, d_minus__b.b__z
              FROM d_minus__b
            ) AS b_4
          ) AS b_2_2 ON b_2_2.b__t0_k = a_3.a__k
          WHERE
            EXISTS(
              SELECT 1
              FROM t0 AS a_4
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (SELECT DISTINCT d_ins__b_2.b__t0_k FROM d_ins__b AS d_ins__b_2) AS keys
                  WHERE keys.b__t0_k = a_4.k)
                AND a_4.k IS NOT DISTINCT FROM a_3.a__k
            )
            AND EXISTS(
              SELECT 1
              FROM t0 AS a_5
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (SELECT DISTINCT d_ins__b_3.b__t0_k FROM d_ins__b AS d_ins__b_3) AS keys_2
                  WHERE keys_2.b__t0_k = a_5.k)
                AND a_5.k IS NOT DISTINCT FROM a_3.a__k
                AND CAST(NULL AS INT) IS NOT DISTINCT FROM b_2_2.b_2__has_right
            )
          UNION ALL
          SELECT a_6.k AS a__k, a_6.x AS a__x, b_2_3.b_2__has_right
          FROM t0 AS a_6
          LEFT JOIN (
            SELECT b_5.k AS b__k, b_5.t0_k AS b__t0_k, b_5.z AS b__z, 1 AS b_2__has_right
            FROM t1 AS b_5
          ) AS b_2_3 ON b_2_3.b__t0_k = a_6.k
          WHERE
            EXISTS(
              SELECT 1
              FROM t0 AS a_7
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (SELECT DISTINCT d_ins__b_4.b__t0_k FROM d_ins__b AS d_ins__b_4) AS keys_3
                  WHERE keys_3.b__t0_k = a_7.k)
                AND a_7.k IS NOT DISTINCT FROM a_6.k
            )
            AND EXISTS(
              SELECT 1
              FROM t0 AS a_8
              WHERE
                EXISTS(
                  SELECT 1
                  FROM (SELECT DISTINCT d_ins__b_5.b__t0_k FROM d_ins__b AS d_ins__b_5) AS keys_4
                  WHERE keys_4.b__t0_k = a_8.k)
                AND a_8.k IS NOT DISTINCT FROM a_6.k
                AND CAST(NULL AS INT) IS NOT DISTINCT FROM b_2_3.b_2__has_right
            )
        ) AS united
        UNION ALL
        SELECT united_2.a__x
        FROM (
          SELECT a_10.a__x, d_del__b.b__k, 1 AS b_2__has_right
          FROM (
            SELECT a_9.k AS a__k, a_9.x AS a__x
            FROM t0 AS a_9
            WHERE NOT EXISTS(SELECT 1 FROM d_plus__a AS d_plus__a_2 WHERE d_plus__a_2.a__k IS NOT DISTINCT FROM a_9.k)
            UNION ALL
            SELECT d_minus__a_2.a__k, d_minus__a_2.a__x
            FROM d_minus__a AS d_minus__a_2
          ) AS a_10
          JOIN d_del__b ON d_del__b.b__t0_k = a_10.a__k
          UNION ALL
          SELECT a_11.x AS a__x, d_plus__b_2.b__k, 1 AS b_2__has_right
          FROM t0 AS a_11
          JOIN d_plus__b AS d_plus__b_2 ON d_plus__b_2.b__t0_k = a_11.k
          WHERE
            EXISTS(SELECT 1 FROM d_del__b AS d_del__b_2 WHERE d_del__b_2.b__k IS NOT DISTINCT FROM d_plus__b_2.b__k)
        ) AS united_2
        UNION ALL
        SELECT a_12.x AS a__x
        FROM t0 AS a_12
        WHERE
          EXISTS(
            SELECT 1
            FROM (SELECT DISTINCT d_del__b_3.b__t0_k FROM d_del__b AS d_del__b_3) AS keys_5
            WHERE keys_5.b__t0_k = a_12.k)
          AND NOT EXISTS(SELECT 1 FROM t1 AS b_6 WHERE b_6.t0_k = a_12.k)
        UNION ALL
        SELECT a_13.x AS a__x
        FROM t0 AS a_13
        JOIN d_upd__b ON d_upd__b.b__t0_k = a_13.k
        UNION ALL
        SELECT a_15.a__x
        FROM (
          SELECT a_14.k AS a__k, a_14.x AS a__x
          FROM t0 AS a_14
          UNION ALL
          SELECT d_minus__a_3.a__k, d_minus__a_3.a__x
          FROM d_minus__a AS d_minus__a_3
        ) AS a_15
        WHERE
          EXISTS(
            SELECT 1
            FROM t0 AS a_16
            WHERE
              EXISTS(
                SELECT 1
                FROM (SELECT DISTINCT d_rec__b.b__t0_k FROM d_rec__b) AS keys_6
                WHERE keys_6.b__t0_k = a_16.k)
              AND a_16.k IS NOT DISTINCT FROM a_15.a__k
          )
      ) AS united_3
    ) AS keys_7
  ), old_rows AS (
    SELECT
      v.x AS a__x,
      v.n AS v__n,
      v.m AS v__m,
      v.s AS v__s,
      v.idivm__count__b__z AS count__b__z,
      named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a_b.a__x, TRUE AS idivm_dead FROM v_rec__a_b) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT groups.a__x, groups.v__n, groups.v__m, groups.v__s, groups.count__b__z
    FROM (
      SELECT
        a_17.x AS a__x,
        COUNT(*) AS v__n,
        COUNT(b_2_4.b__k) AS v__m,
        SUM(b_2_4.b__z) AS v__s,
        COUNT(b_2_4.b__z) AS count__b__z
      FROM t0 AS a_17
      LEFT JOIN (SELECT b_7.k AS b__k, b_7.t0_k AS b__t0_k, b_7.z AS b__z, 1 AS b_2__has_right FROM t1 AS b_7) AS b_2_4
        ON b_2_4.b__t0_k = a_17.k
      WHERE EXISTS(SELECT 1 FROM v_rec__a_b AS v_rec__a_b_2 WHERE v_rec__a_b_2.a__x IS NOT DISTINCT FROM a_17.x)
      GROUP BY a_17.x) AS groups
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__n ELSE old_rows.v__n END AS v__n,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__m ELSE old_rows.v__m END AS v__m,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__s ELSE old_rows.v__s END AS v__s,
    CASE WHEN new_rows.idivm_hit THEN new_rows.count__b__z ELSE old_rows.count__b__z END AS count__b__z
  FROM (SELECT *, TRUE AS idivm_hit FROM old_rows) AS old_rows
  FULL OUTER JOIN (SELECT *, TRUE AS idivm_hit FROM new_rows) AS new_rows
    ON old_rows.a__x IS NOT DISTINCT FROM new_rows.a__x
  WHERE
    old_rows.idivm_hit IS NULL
    OR (old_rows.idivm_dead AND new_rows.idivm_hit IS NULL)
    OR NOT (
      CASE
        WHEN new_rows.idivm_hit
        THEN old_rows.v__n IS NOT DISTINCT FROM new_rows.v__n
        AND old_rows.v__m IS NOT DISTINCT FROM new_rows.v__m
        AND old_rows.v__s IS NOT DISTINCT FROM new_rows.v__s
        AND old_rows.count__b__z IS NOT DISTINCT FROM new_rows.count__b__z
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET n = d.v__n, m = d.v__m, s = d.v__s, idivm__count__b__z = d.count__b__z
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, n, m, s, idivm__count__b__z) VALUES (d.a__x, d.v__n, d.v__m, d.v__s, d.count__b__z);
-- apply, additive form over all changed inputs
MERGE INTO maintained AS v
USING (
  SELECT change.a__x, change.v__n, change.v__m, change.count__b__z, change.v__s
  FROM (
    SELECT
      united.a__x,
      SUM(united.idivm_sign) AS v__n,
      SUM(CASE WHEN united.b__k IS NULL THEN 0 ELSE united.idivm_sign END) AS v__m,
      SUM(CASE WHEN united.b__z IS NULL THEN 0 ELSE united.idivm_sign END) AS count__b__z,
      COALESCE(
        SUM(CASE WHEN united.idivm_sign > 0 THEN CAST(united.b__z AS BIGINT) ELSE -CAST(united.b__z AS BIGINT) END),
        0
      ) AS v__s
    FROM (
      SELECT
        d_signed__a.a__k,
        d_signed__a.a__x,
        b_2_2.b__k,
        b_2_2.b__t0_k,
        b_2_2.b__z,
        b_2_2.b_2__has_right,
        d_signed__a.idivm_sign
      FROM d_signed__a
      LEFT JOIN (
        SELECT b_2.b__k, b_2.b__t0_k, b_2.b__z, 1 AS b_2__has_right
        FROM (
          SELECT b.k AS b__k, b.t0_k AS b__t0_k, b.z AS b__z
          FROM t1 AS b
          WHERE NOT EXISTS(SELECT 1 FROM d_plus__b WHERE d_plus__b.b__k IS NOT DISTINCT FROM b.k)
          UNION ALL
          SELECT d_minus__b.b__k, d_minus__b.b__t0_k, d_minus__b.b__z
          FROM d_minus__b
        ) AS b_2
      ) AS b_2_2 ON b_2_2.b__t0_k = d_signed__a.a__k
      UNION ALL
      SELECT
        a.k AS a__k,
        a.x AS a__x,
        d_signed__b.b__k,
        d_signed__b.b__t0_k,
        d_signed__b.b__z,
        1 AS b_2__has_right,
        d_signed__b.idivm_sign
      FROM t0 AS a
      JOIN d_signed__b ON d_signed__b.b__t0_k = a.k
      UNION ALL
      SELECT
        a_2.k AS a__k,
        a_2.x AS a__x,
        CAST(NULL AS INT) AS b__k,
        CAST(NULL AS INT) AS b__t0_k,
        CAST(NULL AS INT) AS b__z,
        CAST(NULL AS INT) AS b_2__has_right,
        1 AS idivm_sign
      FROM t0 AS a_2
      WHERE
        EXISTS(SELECT 1 FROM d_signed__b AS d_signed__b_2 WHERE d_signed__b_2.b__t0_k = a_2.k)
        AND NOT EXISTS(SELECT 1 FROM t1 AS b_3 WHERE b_3.t0_k = a_2.k)
      UNION ALL
      SELECT
        a_3.k AS a__k,
        a_3.x AS a__x,
        CAST(NULL AS INT) AS b__k,
        CAST(NULL AS INT) AS b__t0_k,
        CAST(NULL AS INT) AS b__z,
        CAST(NULL AS INT) AS b_2__has_right,
        -1 AS idivm_sign
      FROM t0 AS a_3
      WHERE
        EXISTS(SELECT 1 FROM d_signed__b AS d_signed__b_3 WHERE d_signed__b_3.b__t0_k = a_3.k)
        AND NOT EXISTS(
          SELECT 1
          FROM (
            SELECT b_4.k AS b__k, b_4.t0_k AS b__t0_k, b_4.z AS b__z
            FROM t1 AS b_4
            WHERE NOT EXISTS(SELECT 1 FROM d_plus__b AS d_plus__b_2 WHERE d_plus__b_2.b__k IS NOT DISTINCT FROM b_4.k)
            UNION ALL
            SELECT d_minus__b_2.b__k, d_minus__b_2.b__t0_k, d_minus__b_2.b__z
            FROM d_minus__b AS d_minus__b_2
          ) AS b_5
          WHERE b_5.b__t0_k = a_3.k)
    ) AS united
    GROUP BY united.a__x
    HAVING
      SUM(united.idivm_sign) <> 0
      OR SUM(CASE WHEN united.b__k IS NULL THEN 0 ELSE united.idivm_sign END) <> 0
      OR SUM(CASE WHEN united.b__z IS NULL THEN 0 ELSE united.idivm_sign END) <> 0
      OR COALESCE(
        SUM(CASE WHEN united.idivm_sign > 0 THEN CAST(united.b__z AS BIGINT) ELSE -CAST(united.b__z AS BIGINT) END),
        0
      ) <> 0
  ) AS change
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.v__n < 0 AND v.n + d.v__n = 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET
  n = v.n + d.v__n,
  m = v.m + d.v__m,
  s = CASE WHEN (v.idivm__count__b__z + d.count__b__z) = 0 THEN NULL ELSE COALESCE(v.s, 0) + d.v__s
  END,
  idivm__count__b__z = v.idivm__count__b__z + d.count__b__z
WHEN NOT MATCHED AND d.v__n > 0 THEN INSERT (x, n, m, s, idivm__count__b__z) VALUES (
  d.a__x,
  d.v__n,
  d.v__m,
  CASE WHEN (d.count__b__z) = 0 THEN NULL ELSE d.v__s END,
  d.count__b__z
);

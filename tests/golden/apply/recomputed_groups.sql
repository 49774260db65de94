-- title
-- Not additive: a sum of floats depends on the order of its rows, as the extremes of 0.0 and -0.0 do; an average of decimals would
-- be rounded twice; the type of nvl2 is not inferred

-- schema
CREATE TABLE t0 (k INT, x INT, f DOUBLE, m DECIMAL(8, 2), PRIMARY KEY (k));

-- view
SELECT
  a.x, sum(a.f) AS s, avg(a.m) AS m, min(a.f) AS n, max(a.f) AS o,
  bool_and(nvl2(a.f, a.f > 2, FALSE)) AS p, bool_or(nvl2(a.f, a.f > 2, TRUE)) AS q
FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 0.5, 1.10), (2, 2, 1.5, 2.20), (3, 2, 2.5, 3.30);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET f = 4.5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4.5, 4.40);

-- ids
-- π a__x, v__s, v__m, v__n, v__o, v__p, v__q   [ID: a__x]
--   γ a__x; SUM(a__f) → v__s, AVG(a__m) → v__m, MIN(a__f) → v__n, MAX(a__f) → v__o, BOOL_AND(v__nvl2_f_f_2_false) → v__p, BOOL_OR(v__nvl2_f_f_2_true) → v__q   [ID: a__x]
--     π a__x, a__f, a__m, a__k, NVL2(a__f, a__f > 2, FALSE) → v__nvl2_f_f_2_false, NVL2(a__f, a__f > 2, TRUE) → v__nvl2_f_f_2_true   [ID: a__k]
--       scan t0 as a   [ID: a__k]

-- rules
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
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
    SELECT
      v.x AS a__x,
      v.s AS v__s,
      v.m AS v__m,
      v.n AS v__n,
      v.o AS v__o,
      v.p AS v__p,
      v.q AS v__q,
      named.idivm_dead IS TRUE AS idivm_dead
    FROM maintained AS v
    JOIN (
      SELECT a__x, MAX(idivm_dead) AS idivm_dead
      FROM (SELECT v_rec__a.a__x, TRUE AS idivm_dead FROM v_rec__a) AS keys
      GROUP BY a__x) AS named
      ON v.x IS NOT DISTINCT FROM named.a__x
  ), new_rows AS (
    SELECT groups.a__x, groups.v__s, groups.v__m, groups.v__n, groups.v__o, groups.v__p, groups.v__q
    FROM (
      SELECT
        a.x AS a__x,
        SUM(a.f) AS v__s,
        AVG(a.m) AS v__m,
        MIN(a.f) AS v__n,
        MAX(a.f) AS v__o,
        BOOL_AND(NVL2(a.f, a.f > 2, FALSE)) AS v__p,
        BOOL_OR(NVL2(a.f, a.f > 2, TRUE)) AS v__q
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
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__n ELSE old_rows.v__n END AS v__n,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__o ELSE old_rows.v__o END AS v__o,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__p ELSE old_rows.v__p END AS v__p,
    CASE WHEN new_rows.idivm_hit THEN new_rows.v__q ELSE old_rows.v__q END AS v__q
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
        AND old_rows.v__m IS NOT DISTINCT FROM new_rows.v__m
        AND CAST(old_rows.v__n AS STRING) IS NOT DISTINCT FROM CAST(new_rows.v__n AS STRING)
        AND CAST(old_rows.v__o AS STRING) IS NOT DISTINCT FROM CAST(new_rows.v__o AS STRING)
        AND old_rows.v__p IS NOT DISTINCT FROM new_rows.v__p
        AND old_rows.v__q IS NOT DISTINCT FROM new_rows.v__q
        ELSE TRUE
      END
    )
) AS d
ON v.x IS NOT DISTINCT FROM d.a__x
WHEN MATCHED AND d.idivm_op = 'D' THEN DELETE
WHEN MATCHED AND d.idivm_op = 'U' THEN UPDATE SET s = d.v__s, m = d.v__m, n = d.v__n, o = d.v__o, p = d.v__p, q = d.v__q
WHEN NOT MATCHED AND d.idivm_op = 'I' THEN INSERT (x, s, m, n, o, p, q) VALUES (d.a__x, d.v__s, d.v__m, d.v__n, d.v__o, d.v__p, d.v__q);

-- title
-- γ that uses nothing of what an update assigns

-- schema
CREATE TABLE t0 (x INT, k INT, PRIMARY KEY (k));

-- view
SELECT count(*) AS n FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1);
-- then
UPDATE t0 SET x = 2;
-- then
DELETE FROM t0;

-- ids
-- π v__n   [ID: ()]
--   γ (); COUNT(*) → v__n   [ID: ()]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x) from d_ins__a
-- DEL(a__k; knows a__x) from d_del__a
-- UPD(a__k; assigns a__x) from d_upd__a

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_unused  (upd → 0)
-- project_rec  (rec → 1)
-- additive_rows  (COUNT(*) → v__n)

-- Δ-script (naive)
-- i-diff 1: REC(()) from d_del__a+d_ins__a
-- guard: d_del__a has rows or d_ins__a has rows
SELECT 1 AS one
FROM (
  SELECT DISTINCT 1 AS one
  FROM (
    SELECT 1 AS one
    FROM (SELECT DISTINCT 1 AS one FROM d_ins__a) AS keys
    UNION ALL
    SELECT 1 AS one
    FROM (
      SELECT DISTINCT 1 AS one
      FROM (
        SELECT a.x AS a__x, a.k AS a__k
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__x, d_minus__a.a__k
        FROM d_minus__a
      ) AS a_2
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys_2
  ) AS united
) AS keys_3;

-- Δ-script (optimised)
-- i-diff 1: REC(()) from d_del__a+d_ins__a
-- guard: d_del__a has rows or d_ins__a has rows
SELECT 1 AS one
FROM (
  SELECT DISTINCT 1 AS one
  FROM (SELECT 1 AS one FROM d_ins__a UNION ALL SELECT 1 AS one FROM d_del__a) AS united
) AS keys;

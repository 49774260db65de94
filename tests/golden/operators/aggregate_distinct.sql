-- title
-- γ without aggregates is DISTINCT

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT DISTINCT a.x FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 0);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4);

-- ids
-- π a__x   [ID: a__x]
--   γ a__x;    [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x) from d_ins__a
-- DEL(a__k; knows a__x) from d_del__a
-- REC(a__k; knows a__x) from d_rec__a

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_rec__a
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows
SELECT keys_4.a__x
FROM (
  SELECT DISTINCT united.a__x
  FROM (
    SELECT keys.a__x
    FROM (SELECT DISTINCT d_ins__a.a__x FROM d_ins__a) AS keys
    UNION ALL
    SELECT keys_2.a__x
    FROM (
      SELECT DISTINCT a_2.a__x
      FROM (
        SELECT a.k AS a__k, a.x AS a__x
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__k, d_minus__a.a__x
        FROM d_minus__a
      ) AS a_2
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys_2
    UNION ALL
    SELECT keys_3.a__x
    FROM (
      SELECT DISTINCT a_4.a__x
      FROM (
        SELECT a_3.k AS a__k, a_3.x AS a__x
        FROM t0 AS a_3
        UNION ALL
        SELECT d_minus__a_2.a__k, d_minus__a_2.a__x
        FROM d_minus__a AS d_minus__a_2
      ) AS a_4
      WHERE EXISTS(SELECT 1 FROM d_rec__a WHERE d_rec__a.a__k IS NOT DISTINCT FROM a_4.a__k)) AS keys_3
  ) AS united
) AS keys_4;

-- Δ-script (optimised)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_rec__a
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows
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
) AS keys;

-- title
-- ω under an update of its partition: the partition that a row left counts, too

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view (no split)
SELECT a.k, count(*) OVER (PARTITION BY a.x) AS n FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 1, 0), (3, 2, 5);
-- then
UPDATE t0 SET x = 2 WHERE k = 1;
-- then
UPDATE t0 SET x = NULL WHERE k > 1;

-- ids
-- π a__k, v__n, a__x   [ID: a__k]
--   ω a__x; COUNT(*) OVER () → v__n   [ID: a__k]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x) from d_ins__a
-- DEL(a__k; knows a__x) from d_del__a
-- UPD(a__k; assigns a__x) from d_upd__a

-- rules
-- window_ins  (ins → 1)
-- window_del  (del → 1)
-- window_upd  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_upd__a
-- guard: d_del__a has rows or d_ins__a has rows or d_upd__a has rows
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
      WHERE EXISTS(SELECT 1 FROM d_upd__a WHERE d_upd__a.a__k IS NOT DISTINCT FROM a_4.a__k)) AS keys_3
  ) AS united
) AS keys_4;

-- Δ-script (optimised)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_upd__a
-- guard: d_del__a has rows or d_ins__a has rows or d_upd__a has rows
SELECT keys.a__x
FROM (
  SELECT DISTINCT united_2.a__x
  FROM (
    SELECT d_ins__a.a__x
    FROM d_ins__a
    UNION ALL
    SELECT d_del__a.a__x
    FROM d_del__a
    UNION ALL
    SELECT united.a__x
    FROM (
      SELECT d_plus__a.a__k, d_plus__a.a__x
      FROM d_plus__a
      UNION ALL
      SELECT d_minus__a.a__k, d_minus__a.a__x
      FROM d_minus__a
    ) AS united
    WHERE EXISTS(SELECT 1 FROM d_upd__a WHERE d_upd__a.a__k IS NOT DISTINCT FROM united.a__k)) AS united_2
) AS keys;

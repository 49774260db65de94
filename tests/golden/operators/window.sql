-- title
-- ω: partitions that some i-diff touches are recomputed; the view keeps the partition, by which its rows are named

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.z, row_number() OVER (PARTITION BY a.x ORDER BY a.y DESC, a.k) AS r FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1, 0, 0), (2, 2, 0, 0), (3, 2, 5, 0), (4, NULL, 1, 0);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 7 WHERE k = 4;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (5, NULL, 4, 4);
UPDATE t0 SET z = 9 WHERE k = 1;

-- ids
-- π a__k, a__z, v__r, a__x, a__y   [ID: a__k]
--   ω a__x; ROW_NUMBER() OVER (ORDER BY a__y DESC, a__k) → v__r   [ID: a__k]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y, a__z) from d_ins__a
-- DEL(a__k; knows a__x, a__y, a__z) from d_del__a
-- UPD(a__k; assigns a__z; knows a__x, a__y) from d_upd__a
-- REC(a__k; knows a__x, a__y, a__z) from d_rec__a

-- rules
-- window_ins  (ins → 1)
-- window_del  (del → 1)
-- window_upd_unused  (upd → 1)
-- window_rec  (rec → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: UPD(a__k; assigns a__z; knows a__x, a__y) from d_upd__a: see below
-- i-diff 2: REC(a__x) from d_del__a+d_ins__a+d_rec__a
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
        SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y, a.z AS a__z
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__k, d_minus__a.a__x, d_minus__a.a__y, d_minus__a.a__z
        FROM d_minus__a
      ) AS a_2
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys_2
    UNION ALL
    SELECT keys_3.a__x
    FROM (
      SELECT DISTINCT a_4.a__x
      FROM (
        SELECT a_3.k AS a__k, a_3.x AS a__x, a_3.y AS a__y, a_3.z AS a__z
        FROM t0 AS a_3
        UNION ALL
        SELECT d_minus__a_2.a__k, d_minus__a_2.a__x, d_minus__a_2.a__y, d_minus__a_2.a__z
        FROM d_minus__a AS d_minus__a_2
      ) AS a_4
      WHERE EXISTS(SELECT 1 FROM d_rec__a WHERE d_rec__a.a__k IS NOT DISTINCT FROM a_4.a__k)) AS keys_3
  ) AS united
) AS keys_4;

-- Δ-script (optimised)
-- i-diff 1: UPD(a__k; assigns a__z; knows a__x, a__y) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__z, d_upd__a.a__x, d_upd__a.a__y FROM d_upd__a;
-- i-diff 2: REC(a__x) from d_del__a+d_ins__a+d_rec__a
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

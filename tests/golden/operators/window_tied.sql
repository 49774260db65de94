-- title
-- σ over ω whose order is completed by the key: the latest row of each partition, and of tied ones that with the least key

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT r.x, r.y FROM (
  SELECT a.x, a.y, row_number() OVER (PARTITION BY a.x ORDER BY a.y DESC) AS n FROM t0 AS a
) AS r WHERE r.n = 1 AND r.y >= 0;

-- data
INSERT INTO t0 VALUES (2, 1, 5), (3, 1, 5), (4, 2, 7);
-- then
INSERT INTO t0 VALUES (1, 1, 5), (5, 2, 7);
-- then
DELETE FROM t0 WHERE k = 1;
UPDATE t0 SET y = 7 WHERE k = 3;

-- ids
-- π a__x, a__y, a__k   [ID: a__k]
--   σ r__n = 1 AND a__y >= 0   [ID: a__k]
--     ω a__x; ROW_NUMBER() OVER (ORDER BY a__y DESC, a__k ASC) → r__n   [ID: a__k]
--       scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- REC(a__k; knows a__x, a__y) from d_rec__a

-- rules
-- window_ins  (ins → 1)
-- window_del  (del → 1)
-- window_rec  (rec → 1)
-- select_rec  (rec → 1)
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
        SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__k, d_minus__a.a__x, d_minus__a.a__y
        FROM d_minus__a
      ) AS a_2
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys_2
    UNION ALL
    SELECT keys_3.a__x
    FROM (
      SELECT DISTINCT a_4.a__x
      FROM (
        SELECT a_3.k AS a__k, a_3.x AS a__x, a_3.y AS a__y
        FROM t0 AS a_3
        UNION ALL
        SELECT d_minus__a_2.a__k, d_minus__a_2.a__x, d_minus__a_2.a__y
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

-- title
-- Groups of groups: keys of the inner γ, made distinct once

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT g.x AS x, max(g.n) AS n FROM (SELECT a.x AS x, a.y AS y, count(*) AS n FROM t0 AS a GROUP BY a.x, a.y) AS g GROUP BY g.x;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 2, 2);
-- then
UPDATE t0 SET x = 2 WHERE k = 1;
DELETE FROM t0 WHERE k = 3;
-- then
INSERT INTO t0 VALUES (5, 2, 2), (6, 3, 3);

-- ids
-- π a__x, v__n   [ID: a__x]
--   γ a__x; MAX(g__n) → v__n   [ID: a__x]
--     γ a__x, a__y; COUNT(*) → g__n   [ID: a__x, a__y]
--       scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- REC(a__k; knows a__x, a__y) from d_rec__a

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_rec  (rec → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_rec__a
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows
SELECT keys_5.a__x
FROM (
  SELECT DISTINCT a_2.a__x
  FROM (
    SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y
    FROM t0 AS a
    UNION ALL
    SELECT d_minus__a.a__k, d_minus__a.a__x, d_minus__a.a__y
    FROM d_minus__a
  ) AS a_2
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT united.a__x, united.a__y
        FROM (
          SELECT keys.a__x, keys.a__y
          FROM (SELECT DISTINCT d_ins__a.a__x, d_ins__a.a__y FROM d_ins__a) AS keys
          UNION ALL
          SELECT keys_2.a__x, keys_2.a__y
          FROM (
            SELECT DISTINCT a_4.a__x, a_4.a__y
            FROM (
              SELECT a_3.k AS a__k, a_3.x AS a__x, a_3.y AS a__y
              FROM t0 AS a_3
              UNION ALL
              SELECT d_minus__a_2.a__k, d_minus__a_2.a__x, d_minus__a_2.a__y
              FROM d_minus__a AS d_minus__a_2
            ) AS a_4
            WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_4.a__k)) AS keys_2
          UNION ALL
          SELECT keys_3.a__x, keys_3.a__y
          FROM (
            SELECT DISTINCT a_6.a__x, a_6.a__y
            FROM (
              SELECT a_5.k AS a__k, a_5.x AS a__x, a_5.y AS a__y
              FROM t0 AS a_5
              UNION ALL
              SELECT d_minus__a_3.a__k, d_minus__a_3.a__x, d_minus__a_3.a__y
              FROM d_minus__a AS d_minus__a_3
            ) AS a_6
            WHERE EXISTS(SELECT 1 FROM d_rec__a WHERE d_rec__a.a__k IS NOT DISTINCT FROM a_6.a__k)) AS keys_3
        ) AS united
      ) AS keys_4
      WHERE keys_4.a__x IS NOT DISTINCT FROM a_2.a__x AND keys_4.a__y IS NOT DISTINCT FROM a_2.a__y)
) AS keys_5;

-- Δ-script (optimised)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_rec__a
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows
SELECT keys.a__x
FROM (
  SELECT DISTINCT united.a__x
  FROM (
    SELECT d_ins__a.a__x, d_ins__a.a__y
    FROM d_ins__a
    UNION ALL
    SELECT d_del__a.a__x, d_del__a.a__y
    FROM d_del__a
    UNION ALL
    SELECT d_rec__a.a__x, d_rec__a.a__y
    FROM d_rec__a
  ) AS united
) AS keys;

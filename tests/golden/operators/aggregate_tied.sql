-- title
-- γ with aggregates that choose between the rows of a group: they take them in the order of the key

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, s STRING, PRIMARY KEY (k));

-- view
SELECT a.x, max_by(a.s, a.y) AS latest, first(a.s) AS one FROM t0 AS a GROUP BY a.x;

-- data
INSERT INTO t0 VALUES (2, 1, 5, 'b'), (3, 1, 5, 'c'), (4, 2, 7, 'd');
-- then
INSERT INTO t0 VALUES (1, 1, 5, 'a'), (5, 2, 7, 'e');
-- then
DELETE FROM t0 WHERE k = 1;
UPDATE t0 SET y = 4 WHERE k = 3;

-- ids
-- π a__x, v__latest, v__one   [ID: a__x]
--   γ a__x; MAX_BY(a__s, CASE WHEN NOT a__y IS NULL THEN STRUCT(a__y AS _0, a__k AS _1) END) → v__latest, MIN_BY(a__s, STRUCT(a__k AS _0)) → v__one   [ID: a__x]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y, a__s) from d_ins__a
-- DEL(a__k; knows a__x, a__y, a__s) from d_del__a
-- UPD(a__k; assigns a__y, a__s; knows a__x) from d_upd__a
-- REC(a__k; knows a__x, a__y, a__s) from d_rec__a

-- rules
-- aggregate_ins  (ins → 1)
-- aggregate_del  (del → 1)
-- aggregate_upd_argument  (upd → 1)
-- aggregate_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_rec__a+d_upd__a
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows or d_upd__a has rows
SELECT keys_5.a__x
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
        SELECT a.k AS a__k, a.x AS a__x, a.y AS a__y, a.s AS a__s
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__k, d_minus__a.a__x, d_minus__a.a__y, d_minus__a.a__s
        FROM d_minus__a
      ) AS a_2
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys_2
    UNION ALL
    SELECT keys_3.a__x
    FROM (
      SELECT DISTINCT a_3.x AS a__x
      FROM t0 AS a_3
      WHERE EXISTS(SELECT 1 FROM d_upd__a WHERE d_upd__a.a__k IS NOT DISTINCT FROM a_3.k)) AS keys_3
    UNION ALL
    SELECT keys_4.a__x
    FROM (
      SELECT DISTINCT a_5.a__x
      FROM (
        SELECT a_4.k AS a__k, a_4.x AS a__x, a_4.y AS a__y, a_4.s AS a__s
        FROM t0 AS a_4
        UNION ALL
        SELECT d_minus__a_2.a__k, d_minus__a_2.a__x, d_minus__a_2.a__y, d_minus__a_2.a__s
        FROM d_minus__a AS d_minus__a_2
      ) AS a_5
      WHERE EXISTS(SELECT 1 FROM d_rec__a WHERE d_rec__a.a__k IS NOT DISTINCT FROM a_5.a__k)) AS keys_4
  ) AS united
) AS keys_5;

-- Δ-script (optimised)
-- i-diff 1: REC(a__x) from d_del__a+d_ins__a+d_rec__a+d_upd__a
-- guard: d_del__a has rows or d_ins__a has rows or d_rec__a has rows or d_upd__a has rows
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
) AS keys;

-- title
-- ⋉: an update of what its condition reads is REC, on both sides

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view (no split)
SELECT a.k, a.y FROM t0 AS a WHERE a.x IN (SELECT b.x FROM t1 AS b);

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO t1 VALUES (1, 1, 1);
-- then
UPDATE t1 SET x = 2;
-- then
UPDATE t0 SET x = 3 - x;

-- ids
-- π a__k, a__y   [ID: a__k]
--   ⋉ a__x = b__x   [ID: a__k]
--     scan t0 as a   [ID: a__k]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__x, a__y) from d_upd__a
-- INS(b__k; assigns b__x) from d_ins__b
-- DEL(b__k; knows b__x) from d_del__b
-- UPD(b__k; assigns b__x) from d_upd__b

-- rules
-- semijoin_left_ins  (ins → 1)
-- semijoin_left_del  (del → 1)
-- semijoin_left_upd_condition  (upd → 1)
-- semijoin_right_ins  (ins → 1)
-- semijoin_right_del  (del → 1)
-- semijoin_right_upd_condition  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a: see below
-- i-diff 3: INS(a__k; assigns a__y) from d_ins__b: see below
-- i-diff 4: DEL(a__k) from d_del__b
-- guard: d_del__b has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT b_2.b__x
      FROM (
        SELECT b.k AS b__k, b.x AS b__x
        FROM t1 AS b
        UNION ALL
        SELECT d_minus__b.b__k, d_minus__b.b__x
        FROM d_minus__b
      ) AS b_2
      WHERE EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
    WHERE a.x = keys.b__x)
  AND NOT EXISTS(SELECT 1 FROM t1 AS b_3 WHERE a.x = b_3.x);
-- i-diff 5: REC(a__k) from d_upd__a+d_upd__b
-- guard: d_upd__a has rows or d_upd__b has rows
SELECT keys_2.a__k
FROM (
  SELECT DISTINCT united.a__k
  FROM (
    SELECT d_upd__a.a__k
    FROM d_upd__a
    UNION ALL
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT b_2.b__x
          FROM (
            SELECT b.k AS b__k, b.x AS b__x
            FROM t1 AS b
            UNION ALL
            SELECT d_minus__b.b__k, d_minus__b.b__x
            FROM d_minus__b
          ) AS b_2
          WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
        WHERE a.x = keys.b__x)
  ) AS united
) AS keys_2;

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__y FROM d_ins__a WHERE EXISTS(SELECT 1 FROM t1 AS b WHERE d_ins__a.a__x = b.x);
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__y FROM d_del__a;
-- i-diff 3: INS(a__k; assigns a__y) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k, a.y AS a__y
FROM t0 AS a
WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_ins__b.b__x FROM d_ins__b) AS keys WHERE a.x = keys.b__x);
-- i-diff 4: DEL(a__k) from d_del__b
-- guard: d_del__b has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE
  EXISTS(SELECT 1 FROM (SELECT DISTINCT d_del__b.b__x FROM d_del__b) AS keys WHERE a.x = keys.b__x)
  AND NOT EXISTS(SELECT 1 FROM t1 AS b WHERE a.x = b.x);
-- i-diff 5: REC(a__k) from d_upd__a+d_upd__b
-- guard: d_upd__a has rows or d_upd__b has rows
SELECT keys_2.a__k
FROM (
  SELECT DISTINCT united_2.a__k
  FROM (
    SELECT d_upd__a.a__k
    FROM d_upd__a
    UNION ALL
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM (
          SELECT DISTINCT united.b__x
          FROM (
            SELECT d_plus__b.b__k, d_plus__b.b__x
            FROM d_plus__b
            UNION ALL
            SELECT d_minus__b.b__k, d_minus__b.b__x
            FROM d_minus__b
          ) AS united
          WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM united.b__k)) AS keys
        WHERE a.x = keys.b__x)
  ) AS united_2
) AS keys_2;

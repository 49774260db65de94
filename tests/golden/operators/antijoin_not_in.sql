-- title
-- ▷ of NOT IN: the condition is total, so that a NULL on either side counts as a partner

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y FROM t0 AS a WHERE a.x NOT IN (SELECT b.x FROM t1 AS b WHERE b.z > 0);

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2), (3, NULL, 3);
INSERT INTO t1 VALUES (1, 1, 1), (2, NULL, 0);
-- then
UPDATE t1 SET z = 1 WHERE k = 2;
-- then
DELETE FROM t1;

-- ids
-- π a__k, a__y   [ID: a__k]
--   ▷ a__x = b__x OR (a__x = b__x) IS NULL   [ID: a__k]
--     scan t0 as a   [ID: a__k]
--     σ b__z > 0   [ID: b__k]
--       scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__x, b__z) from d_ins__b
-- DEL(b__k; knows b__x, b__z) from d_del__b
-- REC(b__k; knows b__x, b__z) from d_rec__b

-- rules
-- semijoin_left_ins  (ins → 1)
-- semijoin_left_del  (del → 1)
-- semijoin_left_upd  (upd → 1)
-- semijoin_left_rec  (rec → 1)
-- select_ins  (ins → 1)
-- select_del_known  (del → 1)
-- select_rec_known  (rec → 1)
-- antijoin_right_ins  (ins → 1)
-- antijoin_right_del  (del → 1)
-- semijoin_right_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_del  (del → 1)
-- project_ins  (ins → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a: see below
-- i-diff 4: REC(a__k; knows a__y) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__y FROM d_rec__a;
-- i-diff 5: DEL(a__k) from d_ins__b: see below
-- i-diff 6: INS(a__k; assigns a__y) from d_del__b
-- guard: d_del__b has rows
SELECT a.k AS a__k, a.y AS a__y
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT b_2.b__x
      FROM (
        SELECT b.k AS b__k, b.x AS b__x, b.z AS b__z
        FROM t1 AS b
        UNION ALL
        SELECT d_minus__b.b__k, d_minus__b.b__x, d_minus__b.b__z
        FROM d_minus__b
      ) AS b_2
      WHERE
        EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__z > 0 AND d_del__b.b__k IS NOT DISTINCT FROM b_2.b__k)
        AND b_2.b__z > 0
    ) AS keys
    WHERE a.x = keys.b__x OR (a.x = keys.b__x) IS NULL)
  AND NOT EXISTS(SELECT 1 FROM t1 AS b_3 WHERE b_3.z > 0 AND (a.x = b_3.x OR (a.x = b_3.x) IS NULL));
-- i-diff 7: REC(a__k) from d_rec__b
-- guard: d_rec__b has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT b_2.b__x
      FROM (
        SELECT b.k AS b__k, b.x AS b__x, b.z AS b__z
        FROM t1 AS b
        UNION ALL
        SELECT d_minus__b.b__k, d_minus__b.b__x, d_minus__b.b__z
        FROM d_minus__b
      ) AS b_2
      WHERE
        EXISTS(SELECT 1 FROM d_rec__b WHERE d_rec__b.b__z > 0 AND d_rec__b.b__k IS NOT DISTINCT FROM b_2.b__k)
        AND b_2.b__z > 0
    ) AS keys
    WHERE a.x = keys.b__x OR (a.x = keys.b__x) IS NULL);

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__y
FROM d_ins__a
WHERE NOT EXISTS(SELECT 1 FROM t1 AS b WHERE b.z > 0 AND (d_ins__a.a__x = b.x OR (d_ins__a.a__x = b.x) IS NULL));
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__y FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__y FROM d_upd__a;
-- i-diff 4: DEL(a__k) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (SELECT DISTINCT d_ins__b.b__x FROM d_ins__b WHERE d_ins__b.b__z > 0) AS keys
    WHERE a.x = keys.b__x OR (a.x = keys.b__x) IS NULL);
-- i-diff 5: INS(a__k; assigns a__y) from d_del__b
-- guard: d_del__b has rows
SELECT a.k AS a__k, a.y AS a__y
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (SELECT DISTINCT d_del__b.b__x FROM d_del__b WHERE d_del__b.b__z > 0) AS keys
    WHERE a.x = keys.b__x OR (a.x = keys.b__x) IS NULL)
  AND NOT EXISTS(SELECT 1 FROM t1 AS b WHERE b.z > 0 AND (a.x = b.x OR (a.x = b.x) IS NULL));
-- i-diff 6: REC(a__k) from d_rec__a+d_rec__b
-- guard: d_rec__a has rows or d_rec__b has rows
SELECT keys_2.a__k
FROM (
  SELECT DISTINCT united.a__k
  FROM (
    SELECT d_rec__a.a__k
    FROM d_rec__a
    UNION ALL
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE
      EXISTS(
        SELECT 1
        FROM (SELECT DISTINCT d_rec__b.b__x FROM d_rec__b WHERE d_rec__b.b__z > 0) AS keys
        WHERE a.x = keys.b__x OR (a.x = keys.b__x) IS NULL)
  ) AS united
) AS keys_2;

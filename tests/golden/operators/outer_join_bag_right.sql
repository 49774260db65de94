-- title
-- ⟕ with a table without a key: IDs repeat, so a new left row is REC instead of INS

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (x INT, z INT);

-- view
SELECT a.k, a.y, b.z FROM t0 AS a LEFT JOIN t1 AS b ON b.x = a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO t1 VALUES (1, 5), (1, 5);
-- then
INSERT INTO t0 VALUES (3, 1, 3), (4, 4, 4);
UPDATE t0 SET y = 9 WHERE k = 1;
-- then
DELETE FROM t1;
INSERT INTO t1 VALUES (1, 5), (2, 6), (2, 6);
DELETE FROM t0 WHERE k = 3;

-- ids
-- π a__k, a__y, b__z, b__x, b_2__has_right   [ID, not unique: a__k, b__x, b__z, b_2__has_right]
--   ⟕ b__x = a__x   [ID, not unique: a__k, b__x, b__z, b_2__has_right]
--     scan t0 as a   [ID: a__k]
--     scan t1 as b   [ID, not unique: b__x, b__z]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- REC(b__x, b__z) from d_rec__b

-- rules
-- outer_ins_bag  (ins → 1)
-- outer_del  (del → 1)
-- outer_upd  (upd → 1)
-- outer_rec  (rec → 1)
-- outer_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__k; knows a__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__y FROM d_ins__a;
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a: see below
-- i-diff 4: REC(a__k; knows a__y) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__y FROM d_rec__a;
-- i-diff 5: REC(a__k) from d_rec__b
-- guard: d_rec__b has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT b_2.b__x
      FROM (
        SELECT b.x AS b__x, b.z AS b__z
        FROM t1 AS b
        UNION ALL
        SELECT d_minus__b.b__x, d_minus__b.b__z
        FROM d_minus__b
      ) AS b_2
      WHERE
        EXISTS(
          SELECT 1
          FROM d_rec__b
          WHERE d_rec__b.b__x IS NOT DISTINCT FROM b_2.b__x AND d_rec__b.b__z IS NOT DISTINCT FROM b_2.b__z)
    ) AS keys
    WHERE keys.b__x = a.x);

-- Δ-script (optimised)
-- i-diff 1: DEL(a__k; knows a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__y FROM d_del__a;
-- i-diff 2: UPD(a__k; assigns a__y) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__y FROM d_upd__a;
-- i-diff 3: REC(a__k) from d_ins__a+d_rec__a+d_rec__b
-- guard: d_ins__a has rows or d_rec__a has rows or d_rec__b has rows
SELECT keys_2.a__k
FROM (
  SELECT DISTINCT united.a__k
  FROM (
    SELECT d_ins__a.a__k
    FROM d_ins__a
    UNION ALL
    SELECT d_rec__a.a__k
    FROM d_rec__a
    UNION ALL
    SELECT a.k AS a__k
    FROM t0 AS a
    WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_rec__b.b__x FROM d_rec__b) AS keys WHERE keys.b__x = a.x)) AS united
) AS keys_2;

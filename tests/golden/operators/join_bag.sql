-- title
-- ⋈ with a table without a key: IDs repeat, so a new partner is REC instead of INS

-- schema
CREATE TABLE t0 (x INT, y INT);
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT b.k, a.y, b.z FROM t0 AS a JOIN t1 AS b ON a.x = b.x;

-- data
INSERT INTO t0 VALUES (1, 5), (1, 5), (2, 6);
INSERT INTO t1 VALUES (1, 1, 1);
-- then
INSERT INTO t1 VALUES (2, 1, 2);
UPDATE t1 SET z = 7 WHERE k = 1;
-- then
DELETE FROM t0 WHERE x = 1;
INSERT INTO t0 VALUES (1, 5), (2, 6);

-- ids
-- π b__k, a__y, b__z, a__x   [ID, not unique: a__x, a__y, b__k]
--   ⋈ a__x = b__x   [ID, not unique: a__x, a__y, b__k]
--     scan t0 as a   [ID, not unique: a__x, a__y]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- REC(a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__x, b__z) from d_ins__b
-- DEL(b__k; knows b__x, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__x) from d_upd__b
-- REC(b__k; knows b__x, b__z) from d_rec__b

-- rules
-- join_rec  (rec → 1)
-- join_ins_bag  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(b__k; knows b__z) from d_ins__b
-- guard: d_ins__b has rows
SELECT d_ins__b.b__k, d_ins__b.b__z FROM d_ins__b;
-- i-diff 2: DEL(b__k; knows b__z) from d_del__b: see below
-- i-diff 3: UPD(b__k; assigns b__z) from d_upd__b: see below
-- i-diff 4: REC(b__k; knows b__z) from d_rec__b
-- guard: d_rec__b has rows
SELECT d_rec__b.b__k, d_rec__b.b__z FROM d_rec__b;
-- i-diff 5: REC(a__x, a__y) from d_rec__a: see below

-- Δ-script (optimised)
-- i-diff 1: DEL(b__k; knows b__z) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k, d_del__b.b__z FROM d_del__b;
-- i-diff 2: UPD(b__k; assigns b__z) from d_upd__b
-- guard: d_upd__b has rows
SELECT d_upd__b.b__k, d_upd__b.b__z FROM d_upd__b;
-- i-diff 3: REC(b__k) from d_ins__b+d_rec__b
-- guard: d_ins__b has rows or d_rec__b has rows
SELECT keys.b__k
FROM (
  SELECT DISTINCT united.b__k
  FROM (SELECT d_ins__b.b__k FROM d_ins__b UNION ALL SELECT d_rec__b.b__k FROM d_rec__b) AS united
) AS keys;
-- i-diff 4: REC(a__x, a__y) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__x, d_rec__a.a__y FROM d_rec__a;

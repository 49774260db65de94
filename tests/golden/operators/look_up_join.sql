-- title
-- ⟕ along a key: a row that is looked up is an update of the rows that look it up, by their own columns; no other table is read

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.x, a.y, b.z FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2), (3, NULL, 3), (4, 1, 4), (5, 9, 5);
INSERT INTO t1 VALUES (1, 1), (2, 2);
-- then
DELETE FROM t1 WHERE k = 1;
INSERT INTO t1 VALUES (9, 4);
UPDATE t1 SET z = 7 WHERE k = 2;
UPDATE t0 SET y = 9 WHERE k = 3;
-- then
UPDATE t0 SET x = 9 WHERE k = 1;
INSERT INTO t0 VALUES (6, 2, 6);
INSERT INTO t1 VALUES (1, 8);
DELETE FROM t0 WHERE k = 5;

-- ids
-- π a__k, a__x, a__y, b__z   [ID: a__k]
--   ⟕ b__k = a__x   [ID: a__k]
--     scan t0 as a   [ID: a__k]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__z) from d_ins__b
-- DEL(b__k; knows b__z) from d_del__b
-- UPD(b__k; assigns b__z) from d_upd__b

-- rules
-- look_up_ins  (ins → 1)
-- look_up_del  (del → 1)
-- look_up_upd  (upd → 1)
-- look_up_rec  (rec → 1)
-- looked_up_ins  (ins → 1)
-- looked_up_del  (del → 1)
-- looked_up_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__x, a__y, b__z) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__x, a__y) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__y; knows a__x) from d_upd__a: see below
-- i-diff 4: REC(a__k; knows a__x, a__y) from d_rec__a: see below
-- i-diff 5: UPD(a__x; assigns b__z) from d_ins__b: see below
-- i-diff 6: UPD(a__x; assigns b__z) from d_del__b: see below
-- i-diff 7: UPD(a__x; assigns b__z) from d_upd__b: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__x, a__y, b__z) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__x, d_ins__a.a__y, b.z AS b__z FROM d_ins__a LEFT JOIN t1 AS b ON b.k = d_ins__a.a__x;
-- i-diff 2: DEL(a__k; knows a__x, a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__x, d_del__a.a__y FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__y, d_upd__a.a__x FROM d_upd__a;
-- i-diff 4: UPD(a__x; assigns b__z) from d_ins__b
-- guard: d_ins__b has rows
SELECT d_ins__b.b__k AS a__x, d_ins__b.b__z FROM d_ins__b WHERE NOT d_ins__b.b__k IS NULL;
-- i-diff 5: UPD(a__x; assigns b__z) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k AS a__x, CAST(NULL AS INT) AS b__z FROM d_del__b WHERE NOT d_del__b.b__k IS NULL;
-- i-diff 6: UPD(a__x; assigns b__z) from d_upd__b
-- guard: d_upd__b has rows
SELECT d_upd__b.b__k AS a__x, d_upd__b.b__z FROM d_upd__b WHERE NOT d_upd__b.b__k IS NULL;
-- i-diff 7: REC(a__k; knows a__x, a__y) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__x, d_rec__a.a__y FROM d_rec__a;

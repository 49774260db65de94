-- title
-- σ above a join: i-diffs of the other table do not know its attribute and pass

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, b.k AS l, b.z FROM t0 AS a JOIN t1 AS b ON a.x = b.x WHERE a.y > 1;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO t1 VALUES (1, 1, 1), (2, 2, 2), (3, 1, 3);
-- then
UPDATE t0 SET y = 9 WHERE k = 1;
UPDATE t1 SET z = 9 WHERE k = 1;
DELETE FROM t1 WHERE k = 2;
-- then
UPDATE t0 SET x = 2 WHERE k = 1;
INSERT INTO t1 VALUES (4, 2, 4);

-- ids
-- π a__k, b__k, b__z   [ID: a__k, b__k]
--   σ a__y > 1   [ID: a__k, b__k]
--     ⋈ a__x = b__x   [ID: a__k, b__k]
--       scan t0 as a   [ID: a__k]
--       scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__x, b__z) from d_ins__b
-- DEL(b__k; knows b__x, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__x) from d_upd__b
-- REC(b__k; knows b__x, b__z) from d_rec__b

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_rec  (rec → 1)
-- select_ins  (ins → 1)
-- select_del_known  (del → 1)
-- select_rec_known  (rec → 1)
-- select_ins  (ins → 1)
-- select_del  (del → 1)
-- select_upd  (upd → 1)
-- select_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, b__k; assigns b__z) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: INS(a__k, b__k; assigns b__z) from d_ins__b: see below
-- i-diff 4: DEL(b__k; knows b__z) from d_del__b: see below
-- i-diff 5: UPD(b__k; assigns b__z) from d_upd__b: see below
-- i-diff 6: REC(b__k; knows b__z) from d_rec__b: see below
-- i-diff 7: REC(a__k) from d_rec__a: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, b__k; assigns b__z) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, b.k AS b__k, b.z AS b__z
FROM d_ins__a
JOIN t1 AS b ON d_ins__a.a__x = b.x
WHERE d_ins__a.a__y > 1;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a WHERE d_del__a.a__y > 1;
-- i-diff 3: INS(a__k, b__k; assigns b__z) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k, d_ins__b.b__k, d_ins__b.b__z FROM d_ins__b JOIN t0 AS a ON a.x = d_ins__b.b__x WHERE a.y > 1;
-- i-diff 4: DEL(b__k; knows b__z) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k, d_del__b.b__z FROM d_del__b;
-- i-diff 5: UPD(b__k; assigns b__z) from d_upd__b
-- guard: d_upd__b has rows
SELECT d_upd__b.b__k, d_upd__b.b__z FROM d_upd__b;
-- i-diff 6: REC(b__k; knows b__z) from d_rec__b
-- guard: d_rec__b has rows
SELECT d_rec__b.b__k, d_rec__b.b__z FROM d_rec__b;
-- i-diff 7: REC(a__k) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k FROM d_rec__a WHERE d_rec__a.a__y > 1;

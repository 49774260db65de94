-- title
-- ∪ with the key at different positions: each branch has an ID attribute of its own

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k AS p, a.y AS q FROM t0 AS a UNION ALL SELECT b.z AS p, b.k AS q FROM t1 AS b;

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
-- π v__p, v__q, v__branch, v__0__a__k, v__1__b__k   [ID: v__branch, v__0__a__k, v__1__b__k]
--   ∪ v of 2 branches   [ID: v__branch, v__0__a__k, v__1__b__k]
--     scan t0 as a   [ID: a__k]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__y) from d_ins__a
-- DEL(a__k; knows a__y) from d_del__a
-- UPD(a__k; assigns a__y) from d_upd__a
-- INS(b__k; assigns b__z) from d_ins__b
-- DEL(b__k; knows b__z) from d_del__b
-- UPD(b__k; assigns b__z) from d_upd__b

-- rules
-- union_ins  (ins → 1)
-- union_del  (del → 1)
-- union_upd  (upd → 1)
-- union_ins  (ins → 1)
-- union_del  (del → 1)
-- union_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(v__branch, v__0__a__k, v__1__b__k; assigns v__p, v__q) from d_ins__a: see below
-- i-diff 2: DEL(v__branch, v__0__a__k; knows v__p, v__q, v__1__b__k) from d_del__a: see below
-- i-diff 3: UPD(v__branch, v__0__a__k; assigns v__q; knows v__p, v__1__b__k) from d_upd__a: see below
-- i-diff 4: INS(v__branch, v__0__a__k, v__1__b__k; assigns v__p, v__q) from d_ins__b: see below
-- i-diff 5: DEL(v__branch, v__1__b__k; knows v__p, v__q, v__0__a__k) from d_del__b: see below
-- i-diff 6: UPD(v__branch, v__1__b__k; assigns v__p; knows v__q, v__0__a__k) from d_upd__b: see below

-- Δ-script (optimised)
-- i-diff 1: INS(v__branch, v__0__a__k, v__1__b__k; assigns v__p, v__q) from d_ins__a
-- guard: d_ins__a has rows
SELECT 0 AS v__branch, d_ins__a.a__k AS v__0__a__k, NULL AS v__1__b__k, d_ins__a.a__k AS v__p, d_ins__a.a__y AS v__q
FROM d_ins__a;
-- i-diff 2: DEL(v__branch, v__0__a__k; knows v__p, v__q, v__1__b__k) from d_del__a
-- guard: d_del__a has rows
SELECT 0 AS v__branch, d_del__a.a__k AS v__0__a__k, d_del__a.a__k AS v__p, d_del__a.a__y AS v__q, NULL AS v__1__b__k
FROM d_del__a;
-- i-diff 3: UPD(v__branch, v__0__a__k; assigns v__q; knows v__p, v__1__b__k) from d_upd__a
-- guard: d_upd__a has rows
SELECT 0 AS v__branch, d_upd__a.a__k AS v__0__a__k, d_upd__a.a__y AS v__q, d_upd__a.a__k AS v__p, NULL AS v__1__b__k
FROM d_upd__a;
-- i-diff 4: INS(v__branch, v__0__a__k, v__1__b__k; assigns v__p, v__q) from d_ins__b
-- guard: d_ins__b has rows
SELECT 1 AS v__branch, NULL AS v__0__a__k, d_ins__b.b__k AS v__1__b__k, d_ins__b.b__z AS v__p, d_ins__b.b__k AS v__q
FROM d_ins__b;
-- i-diff 5: DEL(v__branch, v__1__b__k; knows v__p, v__q, v__0__a__k) from d_del__b
-- guard: d_del__b has rows
SELECT 1 AS v__branch, d_del__b.b__k AS v__1__b__k, d_del__b.b__z AS v__p, d_del__b.b__k AS v__q, NULL AS v__0__a__k
FROM d_del__b;
-- i-diff 6: UPD(v__branch, v__1__b__k; assigns v__p; knows v__q, v__0__a__k) from d_upd__b
-- guard: d_upd__b has rows
SELECT 1 AS v__branch, d_upd__b.b__k AS v__1__b__k, d_upd__b.b__z AS v__p, d_upd__b.b__k AS v__q, NULL AS v__0__a__k
FROM d_upd__b;

-- title
-- ∪: the branch is part of every ID

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y AS c FROM t0 AS a WHERE a.x > 0 UNION ALL SELECT b.k, b.z AS c FROM t1 AS b;

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
-- π v__k, v__c, v__branch   [ID: v__branch, v__k]
--   ∪ v of 2 branches   [ID: v__branch, v__k]
--     σ a__x > 0   [ID: a__k]
--       scan t0 as a   [ID: a__k]
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
-- select_ins  (ins → 1)
-- select_del_known  (del → 1)
-- select_upd_known  (upd → 1)
-- select_rec_known  (rec → 1)
-- union_ins  (ins → 1)
-- union_del  (del → 1)
-- union_upd  (upd → 1)
-- union_rec  (rec → 1)
-- union_ins  (ins → 1)
-- union_del  (del → 1)
-- union_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(v__branch, v__k; assigns v__c) from d_ins__a: see below
-- i-diff 2: DEL(v__branch, v__k; knows v__c) from d_del__a: see below
-- i-diff 3: UPD(v__branch, v__k; assigns v__c) from d_upd__a: see below
-- i-diff 4: REC(v__branch, v__k; knows v__c) from d_rec__a: see below
-- i-diff 5: INS(v__branch, v__k; assigns v__c) from d_ins__b: see below
-- i-diff 6: DEL(v__branch, v__k; knows v__c) from d_del__b: see below
-- i-diff 7: UPD(v__branch, v__k; assigns v__c) from d_upd__b: see below

-- Δ-script (optimised)
-- i-diff 1: INS(v__branch, v__k; assigns v__c) from d_ins__a
-- guard: d_ins__a has rows
SELECT 0 AS v__branch, d_ins__a.a__k AS v__k, d_ins__a.a__y AS v__c FROM d_ins__a WHERE d_ins__a.a__x > 0;
-- i-diff 2: DEL(v__branch, v__k; knows v__c) from d_del__a
-- guard: d_del__a has rows
SELECT 0 AS v__branch, d_del__a.a__k AS v__k, d_del__a.a__y AS v__c FROM d_del__a WHERE d_del__a.a__x > 0;
-- i-diff 3: UPD(v__branch, v__k; assigns v__c) from d_upd__a
-- guard: d_upd__a has rows
SELECT 0 AS v__branch, d_upd__a.a__k AS v__k, d_upd__a.a__y AS v__c FROM d_upd__a WHERE d_upd__a.a__x > 0;
-- i-diff 4: INS(v__branch, v__k; assigns v__c) from d_ins__b
-- guard: d_ins__b has rows
SELECT 1 AS v__branch, d_ins__b.b__k AS v__k, d_ins__b.b__z AS v__c FROM d_ins__b;
-- i-diff 5: DEL(v__branch, v__k; knows v__c) from d_del__b
-- guard: d_del__b has rows
SELECT 1 AS v__branch, d_del__b.b__k AS v__k, d_del__b.b__z AS v__c FROM d_del__b;
-- i-diff 6: UPD(v__branch, v__k; assigns v__c) from d_upd__b
-- guard: d_upd__b has rows
SELECT 1 AS v__branch, d_upd__b.b__k AS v__k, d_upd__b.b__z AS v__c FROM d_upd__b;
-- i-diff 7: REC(v__branch, v__k; knows v__c) from d_rec__a
-- guard: d_rec__a has rows
SELECT 0 AS v__branch, d_rec__a.a__k AS v__k, d_rec__a.a__y AS v__c FROM d_rec__a WHERE d_rec__a.a__x > 0;

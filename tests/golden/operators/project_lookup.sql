-- title
-- π over two tables: an update of one side looks the other one up

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, x INT, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, b.k AS l, a.y + b.z AS c FROM t0 AS a JOIN t1 AS b ON a.x = b.x;

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
-- π a__k, b__k, a__y + b__z → v__c   [ID: a__k, b__k]
--   ⋈ a__x = b__x   [ID: a__k, b__k]
--     scan t0 as a   [ID: a__k]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__x, b__z) from d_ins__b
-- DEL(b__k; knows b__x, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__x) from d_upd__b
-- REC(b__k; knows b__x, b__z) from d_rec__b

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_rec  (rec → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_lookup  (upd → 1)
-- project_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_lookup  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, b__k; assigns v__c) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: UPD(a__k, b__k; assigns v__c) from d_upd__a
-- guard: d_upd__a has rows
SELECT a.k AS a__k, b.k AS b__k, a.y + b.z AS v__c
FROM t0 AS a
JOIN t1 AS b ON a.x = b.x
WHERE EXISTS(SELECT 1 FROM d_upd__a WHERE d_upd__a.a__k IS NOT DISTINCT FROM a.k);
-- i-diff 4: INS(a__k, b__k; assigns v__c) from d_ins__b: see below
-- i-diff 5: DEL(b__k) from d_del__b: see below
-- i-diff 6: UPD(a__k, b__k; assigns v__c) from d_upd__b
-- guard: d_upd__b has rows
SELECT a.k AS a__k, b.k AS b__k, a.y + b.z AS v__c
FROM t0 AS a
JOIN t1 AS b ON a.x = b.x
WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM b.k);
-- i-diff 7: REC(a__k) from d_rec__a: see below
-- i-diff 8: REC(b__k) from d_rec__b: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, b__k; assigns v__c) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, b.k AS b__k, d_ins__a.a__y + b.z AS v__c FROM d_ins__a JOIN t1 AS b ON d_ins__a.a__x = b.x;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: UPD(a__k, b__k; assigns v__c) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, b.k AS b__k, d_upd__a.a__y + b.z AS v__c FROM d_upd__a JOIN t1 AS b ON d_upd__a.a__x = b.x;
-- i-diff 4: INS(a__k, b__k; assigns v__c) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k, d_ins__b.b__k, a.y + d_ins__b.b__z AS v__c FROM d_ins__b JOIN t0 AS a ON a.x = d_ins__b.b__x;
-- i-diff 5: DEL(b__k) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k FROM d_del__b;
-- i-diff 6: UPD(a__k, b__k; assigns v__c) from d_upd__b
-- guard: d_upd__b has rows
SELECT a.k AS a__k, d_upd__b.b__k, a.y + d_upd__b.b__z AS v__c FROM t0 AS a JOIN d_upd__b ON a.x = d_upd__b.b__x;
-- i-diff 7: REC(a__k) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k FROM d_rec__a;
-- i-diff 8: REC(b__k) from d_rec__b
-- guard: d_rec__b has rows
SELECT d_rec__b.b__k FROM d_rec__b;

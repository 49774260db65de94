-- title
-- σ on a computed attribute that an update assigns: rows may come in or leave

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view (no split)
SELECT v.k, v.c FROM (SELECT a.k, a.x + a.y AS c FROM t0 AS a) AS v WHERE v.c > 1;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 0);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4);

-- ids
-- π a__k, v__c   [ID: a__k]
--   σ v__c > 1   [ID: a__k]
--     π a__k, a__x + a__y → v__c   [ID: a__k]
--       scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__x, a__y) from d_upd__a

-- rules
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- select_ins  (ins → 1)
-- select_del_known  (del → 1)
-- select_upd_condition  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns v__c) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows v__c) from d_del__a: see below
-- i-diff 3: REC(a__k) from d_upd__a: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns v__c) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__x + d_ins__a.a__y AS v__c FROM d_ins__a WHERE (d_ins__a.a__x + d_ins__a.a__y) > 1;
-- i-diff 2: DEL(a__k; knows v__c) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__x + d_del__a.a__y AS v__c FROM d_del__a WHERE (d_del__a.a__x + d_del__a.a__y) > 1;
-- i-diff 3: REC(a__k) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k FROM d_upd__a;

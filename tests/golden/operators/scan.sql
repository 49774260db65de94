-- title
-- A table with a key: inserts, deletions, updates of any attribute

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1, 0), (2, 2, 0), (3, 2, 0);
-- then
UPDATE t0 SET x = 3 - x WHERE k < 3;
UPDATE t0 SET y = 5 WHERE k = 3;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, 4, 4);

-- ids
-- π a__k, a__y   [ID: a__k]
--   scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__y) from d_ins__a
-- DEL(a__k; knows a__y) from d_del__a
-- UPD(a__k; assigns a__y) from d_upd__a

-- rules
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__y FROM d_ins__a;
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__y FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__y FROM d_upd__a;

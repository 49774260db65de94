-- title
-- the unknown member of a dimension: a branch that never changes is not read, by i-diffs or by tuples

-- schema
CREATE TABLE t0 (k INT, y STRING, PRIMARY KEY (k));

-- view
SELECT a.k, a.y FROM t0 AS a UNION ALL SELECT -1, 'unknown';

-- data
INSERT INTO t0 VALUES (1, 'a'), (2, 'b');
-- then
UPDATE t0 SET y = 'c' WHERE k = 1;
DELETE FROM t0 WHERE k = 2;
INSERT INTO t0 VALUES (-1, 'd');

-- ids
-- π v__k, v__y, v__branch, v__0__a__k   [ID: v__branch, v__0__a__k]
--   ∪ v of 2 branches   [ID: v__branch, v__0__a__k]
--     scan t0 as a   [ID: a__k]
--     π -1 → v__1, 'unknown' → v__unknown   [ID: ()]
--       one row   [ID: ()]

-- rules
-- union_ins  (ins → 1)
-- union_del  (del → 1)
-- union_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)

-- Δ-script (optimised)
-- i-diff 1: INS(v__branch, v__0__a__k; assigns v__k, v__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT 0 AS v__branch, d_ins__a.a__k AS v__0__a__k, d_ins__a.a__k AS v__k, d_ins__a.a__y AS v__y FROM d_ins__a;
-- i-diff 2: DEL(v__branch, v__0__a__k; knows v__k, v__y) from d_del__a
-- guard: d_del__a has rows
SELECT 0 AS v__branch, d_del__a.a__k AS v__0__a__k, d_del__a.a__k AS v__k, d_del__a.a__y AS v__y FROM d_del__a;
-- i-diff 3: UPD(v__branch, v__0__a__k; assigns v__y; knows v__k) from d_upd__a
-- guard: d_upd__a has rows
SELECT 0 AS v__branch, d_upd__a.a__k AS v__0__a__k, d_upd__a.a__y AS v__y, d_upd__a.a__k AS v__k FROM d_upd__a;

-- title
-- μ under an update of its collection: the rows of that key are recomputed

-- schema
CREATE TABLE t0 (k INT, s STRING, PRIMARY KEY (k));

-- view (no split)
SELECT a.k, posexplode(split(a.s, ',')) AS (p, x) FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 'a,b'), (2, 'c');
-- then
UPDATE t0 SET s = 'b' WHERE k = 1;
UPDATE t0 SET s = 'c,c' WHERE k = 2;

-- ids
-- π a__k, v__pos, v__x   [ID: a__k, v__pos]
--   μ SPLIT(a__s, ',') → v__pos, v__x   [ID: a__k, v__pos]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__s) from d_ins__a
-- DEL(a__k; knows a__s) from d_del__a
-- UPD(a__k; assigns a__s) from d_upd__a

-- rules
-- unnest_ins  (ins → 1)
-- unnest_del  (del → 1)
-- unnest_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, v__pos; assigns v__x) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: REC(a__k) from d_upd__a: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, v__pos; assigns v__x) from d_ins__a
-- guard: d_ins__a has rows
SELECT elements.a__k, elements.v__pos, elements.v__x
FROM (
  SELECT d_ins__a.a__k, d_ins__a.a__s, POSEXPLODE(SPLIT(d_ins__a.a__s, ',')) AS (v__pos, v__x)
  FROM d_ins__a
) AS elements;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: REC(a__k) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k FROM d_upd__a;

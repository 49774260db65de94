-- title
-- μ: new rows bring their elements, a changed collection is taken apart again, any other change names the rows by the key of theirs

-- schema
CREATE TABLE t0 (k INT, s STRING, z INT, PRIMARY KEY (k));

-- view
SELECT a.k, posexplode(split(a.s, ',')) AS (p, x), a.z FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 'a,b', 0), (2, 'c', 0), (3, NULL, 0), (4, 'd,e', 0);
-- then
UPDATE t0 SET s = 'b,b,a' WHERE k = 1;
UPDATE t0 SET z = 9 WHERE k = 2;
DELETE FROM t0 WHERE k = 4;
INSERT INTO t0 VALUES (5, 'f', 1);
-- then
UPDATE t0 SET s = 'g' WHERE k = 3;
UPDATE t0 SET s = NULL WHERE k = 5;

-- ids
-- π a__k, v__pos, v__x, a__z   [ID: a__k, v__pos]
--   μ SPLIT(a__s, ',') → v__pos, v__x   [ID: a__k, v__pos]
--     scan t0 as a   [ID: a__k]

-- base diffs
-- INS(a__k; assigns a__s, a__z) from d_ins__a
-- DEL(a__k; knows a__s, a__z) from d_del__a
-- UPD(a__k; assigns a__z; knows a__s) from d_upd__a
-- REC(a__k; knows a__s, a__z) from d_rec__a

-- rules
-- unnest_ins  (ins → 1)
-- unnest_del  (del → 1)
-- unnest_upd_unused  (upd → 1)
-- unnest_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, v__pos; assigns v__x, a__z) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__z) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__z) from d_upd__a: see below
-- i-diff 4: REC(a__k; knows a__z) from d_rec__a: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, v__pos; assigns v__x, a__z) from d_ins__a
-- guard: d_ins__a has rows
SELECT elements.a__k, elements.v__pos, elements.v__x, elements.a__z
FROM (
  SELECT d_ins__a.a__k, d_ins__a.a__s, d_ins__a.a__z, POSEXPLODE(SPLIT(d_ins__a.a__s, ',')) AS (v__pos, v__x)
  FROM d_ins__a
) AS elements;
-- i-diff 2: DEL(a__k; knows a__z) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__z FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns a__z) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__z FROM d_upd__a;
-- i-diff 4: REC(a__k; knows a__z) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__z FROM d_rec__a;

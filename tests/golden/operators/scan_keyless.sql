-- title
-- A table without a key: both images of a changed row are recomputed, copies are kept

-- schema
CREATE TABLE t0 (x INT, y INT);

-- view
SELECT a.x, a.y FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, 1), (1, 1);
-- then
INSERT INTO t0 VALUES (1, 1), (2, 2);
-- then
DELETE FROM t0 WHERE x = 1;

-- ids
-- π a__x, a__y   [ID, not unique: a__x, a__y]
--   scan t0 as a   [ID, not unique: a__x, a__y]

-- base diffs
-- REC(a__x, a__y) from d_rec__a

-- rules
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__x, a__y) from d_rec__a: see below

-- Δ-script (optimised)
-- i-diff 1: REC(a__x, a__y) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__x, d_rec__a.a__y FROM d_rec__a;

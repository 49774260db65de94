-- title
-- π that reads the clock, over a table without a key

-- schema
CREATE TABLE t0 (d DATE, x INT);

-- view
SELECT a.x, a.d < current_date() AS late FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (DATE '2026-01-20', 1), (DATE '2026-01-25', 2), (DATE '2026-01-25', 2);
-- then
UPDATE t0 SET d = DATE '2026-01-31' WHERE x = 1;
-- then
INSERT INTO t0 VALUES (DATE '2026-01-25', 2);

-- ids
-- π a__x, a__d, a__d < clock__t1 → v__late   [ID, not unique: a__d, a__x]
--   ⋈ TRUE   [ID, not unique: a__d, a__x]
--     scan t0 as a   [ID, not unique: a__d, a__x]
--     scan the_clock as clock   [ID: ()]

-- base diffs
-- REC(a__d, a__x) from d_rec__a
-- UPD((); assigns clock__t1) from d_upd__clock

-- rules
-- join_rec  (rec → 1)
-- join_upd  (upd → 1)
-- project_time_bag  (upd → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__d, a__x) from d_rec__a+d_upd__clock: see below

-- Δ-script (optimised)
-- i-diff 1: REC(a__d, a__x) from d_rec__a+d_upd__clock
-- guard: d_rec__a has rows or d_upd__clock has rows
SELECT keys.a__d, keys.a__x
FROM (
  SELECT DISTINCT united.a__d, united.a__x
  FROM (
    SELECT a.d AS a__d, a.x AS a__x
    FROM t0 AS a
    CROSS JOIN the_clock AS clock
    CROSS JOIN d_minus__clock
    WHERE (NOT (a.d < clock.`CURRENT_DATE()`) IS NOT DISTINCT FROM (a.d < d_minus__clock.clock__t1))
    UNION ALL
    SELECT d_rec__a.a__d, d_rec__a.a__x
    FROM d_rec__a
  ) AS united
) AS keys;

-- title
-- π that reads the clock: the rows with another value are updated

-- schema
CREATE TABLE t0 (k INT, d DATE, x INT, PRIMARY KEY (k));

-- view
SELECT a.k, CASE WHEN a.d < current_date() THEN 'late' ELSE 'open' END AS state FROM t0 AS a;

-- data
INSERT INTO t0 VALUES (1, DATE '2026-01-20', 1), (2, DATE '2026-01-25', 2), (3, DATE '2026-02-03', 3);
-- then
UPDATE t0 SET d = DATE '2026-01-31' WHERE k = 1;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, DATE '2026-02-01', 4);

-- ids
-- π a__k, CASE WHEN a__d < clock__t1 THEN 'late' ELSE 'open' END → v__state   [ID: a__k]
--   ⋈ TRUE   [ID: a__k]
--     scan t0 as a   [ID: a__k]
--     scan the_clock as clock   [ID: ()]

-- base diffs
-- INS(a__k; assigns a__d) from d_ins__a
-- DEL(a__k; knows a__d) from d_del__a
-- UPD(a__k; assigns a__d) from d_upd__a
-- UPD((); assigns clock__t1) from d_upd__clock

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd_lookup  (upd → 1)
-- project_time  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns v__state) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns v__state) from d_upd__a
-- guard: d_upd__a has rows
SELECT a.k AS a__k, CASE WHEN a.d < clock.`CURRENT_DATE()` THEN 'late' ELSE 'open' END AS v__state
FROM t0 AS a
CROSS JOIN the_clock AS clock
WHERE EXISTS(SELECT 1 FROM d_upd__a WHERE d_upd__a.a__k IS NOT DISTINCT FROM a.k);
-- i-diff 4: UPD(a__k; assigns v__state) from d_upd__clock: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns v__state) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, CASE WHEN d_ins__a.a__d < clock.`CURRENT_DATE()` THEN 'late' ELSE 'open' END AS v__state
FROM d_ins__a
CROSS JOIN the_clock AS clock;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns v__state) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, CASE WHEN d_upd__a.a__d < clock.`CURRENT_DATE()` THEN 'late' ELSE 'open' END AS v__state
FROM d_upd__a
CROSS JOIN the_clock AS clock;
-- i-diff 4: UPD(a__k; assigns v__state) from d_upd__clock
-- guard: d_upd__clock has rows
SELECT a.k AS a__k, CASE WHEN a.d < clock.`CURRENT_DATE()` THEN 'late' ELSE 'open' END AS v__state
FROM t0 AS a
CROSS JOIN the_clock AS clock
CROSS JOIN d_minus__clock
WHERE
  (
    NOT CASE WHEN a.d < clock.`CURRENT_DATE()` THEN 'late' ELSE 'open' END IS NOT DISTINCT FROM CASE WHEN a.d < d_minus__clock.clock__t1 THEN 'late' ELSE 'open' END
  );

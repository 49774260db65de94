-- title
-- σ that reads the clock: the rows at the ends of a window come in and leave

-- schema
CREATE TABLE t0 (k INT, d DATE, x INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.d FROM t0 AS a WHERE a.d >= current_date() - INTERVAL 7 DAYS;

-- data
INSERT INTO t0 VALUES (1, DATE '2026-01-20', 1), (2, DATE '2026-01-25', 2), (3, DATE '2026-02-03', 3);
-- then
UPDATE t0 SET d = DATE '2026-01-31' WHERE k = 1;
-- then
DELETE FROM t0 WHERE k = 3;
INSERT INTO t0 VALUES (4, DATE '2026-02-01', 4);

-- ids
-- π a__k, a__d   [ID: a__k]
--   σ a__d >= clock__t1   [ID: a__k]
--     ⋈ TRUE   [ID: a__k]
--       scan t0 as a   [ID: a__k]
--       scan the_clock as clock   [ID: ()]

-- base diffs
-- INS(a__k; assigns a__d) from d_ins__a
-- DEL(a__k; knows a__d) from d_del__a
-- REC(a__k; knows a__d) from d_rec__a
-- UPD((); assigns clock__t1) from d_upd__clock

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- join_upd  (upd → 1)
-- select_ins  (ins → 1)
-- select_del  (del → 1)
-- select_rec  (rec → 1)
-- select_time  (upd → 2)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__d) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__d) from d_del__a: see below
-- i-diff 3: REC(a__k; knows a__d) from d_rec__a: see below
-- i-diff 4: INS(a__k; assigns a__d) from d_upd__clock: see below
-- i-diff 5: DEL(a__k) from d_upd__clock: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__d) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__d
FROM d_ins__a
CROSS JOIN the_clock AS clock
WHERE d_ins__a.a__d >= clock.`CURRENT_DATE() - INTERVAL '7' DAYS`;
-- i-diff 2: DEL(a__k; knows a__d) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__d FROM d_del__a;
-- i-diff 3: INS(a__k; assigns a__d) from d_upd__clock
-- guard: d_upd__clock has rows
SELECT a.k AS a__k, a.d AS a__d
FROM t0 AS a
CROSS JOIN the_clock AS clock
CROSS JOIN d_minus__clock
WHERE
  a.d >= clock.`CURRENT_DATE() - INTERVAL '7' DAYS`
  AND (NOT (a.d >= d_minus__clock.clock__t1) OR (a.d >= d_minus__clock.clock__t1) IS NULL);
-- i-diff 4: DEL(a__k) from d_upd__clock
-- guard: d_upd__clock has rows
SELECT a.k AS a__k
FROM t0 AS a
CROSS JOIN the_clock AS clock
CROSS JOIN d_minus__clock
WHERE
  a.d >= d_minus__clock.clock__t1
  AND (
    NOT (a.d >= clock.`CURRENT_DATE() - INTERVAL '7' DAYS`)
    OR (a.d >= clock.`CURRENT_DATE() - INTERVAL '7' DAYS`) IS NULL
  );
-- i-diff 5: REC(a__k; knows a__d) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__d FROM d_rec__a;

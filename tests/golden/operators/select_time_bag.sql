-- title
-- σ that reads the clock, over a table without a key

-- schema
CREATE TABLE t0 (d DATE, x INT);

-- view
SELECT a.d, a.x FROM t0 AS a WHERE a.d >= current_date() - INTERVAL 7 DAYS;

-- data
INSERT INTO t0 VALUES (DATE '2026-01-20', 1), (DATE '2026-01-25', 2), (DATE '2026-01-25', 2);
-- then
UPDATE t0 SET d = DATE '2026-01-31' WHERE x = 1;
-- then
INSERT INTO t0 VALUES (DATE '2026-01-25', 2);

-- ids
-- π a__d, a__x   [ID, not unique: a__d, a__x]
--   σ a__d >= clock__t1   [ID, not unique: a__d, a__x]
--     ⋈ TRUE   [ID, not unique: a__d, a__x]
--       scan t0 as a   [ID, not unique: a__d, a__x]
--       scan the_clock as clock   [ID: ()]

-- base diffs
-- REC(a__d, a__x) from d_rec__a
-- UPD((); assigns clock__t1) from d_upd__clock

-- rules
-- join_rec  (rec → 1)
-- join_upd  (upd → 1)
-- select_time_bag  (upd → 1)
-- select_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__d, a__x) from d_rec__a+d_upd__clock: see below

-- Δ-script (optimised)
-- i-diff 1: REC(a__d, a__x) from d_rec__a+d_upd__clock
-- guard: d_rec__a has rows or d_upd__clock has rows
SELECT keys.a__d, keys.a__x
FROM (
  SELECT DISTINCT united_2.a__d, united_2.a__x
  FROM (
    SELECT united.a__d, united.a__x
    FROM (
      SELECT a.d AS a__d, a.x AS a__x
      FROM t0 AS a
      CROSS JOIN the_clock AS clock
      CROSS JOIN d_minus__clock
      WHERE
        a.d >= clock.`CURRENT_DATE() - INTERVAL '7' DAYS`
        AND (NOT (a.d >= d_minus__clock.clock__t1) OR (a.d >= d_minus__clock.clock__t1) IS NULL)
      UNION ALL
      SELECT a_2.d AS a__d, a_2.x AS a__x
      FROM t0 AS a_2
      CROSS JOIN the_clock AS clock_2
      CROSS JOIN d_minus__clock AS d_minus__clock_2
      WHERE
        a_2.d >= d_minus__clock_2.clock__t1
        AND (
          NOT (a_2.d >= clock_2.`CURRENT_DATE() - INTERVAL '7' DAYS`)
          OR (a_2.d >= clock_2.`CURRENT_DATE() - INTERVAL '7' DAYS`) IS NULL
        )
    ) AS united
    UNION ALL
    SELECT d_rec__a.a__d, d_rec__a.a__x
    FROM d_rec__a
  ) AS united_2
) AS keys;

-- title
-- ⋉ without correlation: no attribute of the right side is read, so its updates are nothing

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (x INT, k INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y FROM t0 AS a WHERE EXISTS (SELECT * FROM t1);

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO t1 VALUES (1, 1);
-- then
UPDATE t1 SET x = 2;
UPDATE t0 SET y = 3 WHERE k = 1;
-- then
INSERT INTO t1 VALUES (3, 3);
-- then
DELETE FROM t1;

-- ids
-- π a__k, a__y   [ID: a__k]
--   ⋉ TRUE   [ID: a__k]
--     scan t0 as a   [ID: a__k]
--     scan t1   [ID: t1__k]

-- base diffs
-- INS(a__k; assigns a__y) from d_ins__a
-- DEL(a__k; knows a__y) from d_del__a
-- UPD(a__k; assigns a__y) from d_upd__a
-- INS(t1__k; assigns t1__x) from d_ins__t1
-- DEL(t1__k; knows t1__x) from d_del__t1
-- UPD(t1__k; assigns t1__x) from d_upd__t1

-- rules
-- semijoin_left_ins  (ins → 1)
-- semijoin_left_del  (del → 1)
-- semijoin_left_upd  (upd → 1)
-- semijoin_right_ins  (ins → 1)
-- semijoin_right_del  (del → 1)
-- semijoin_right_upd  (upd → 0)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a: see below
-- i-diff 4: INS(a__k; assigns a__y) from d_ins__t1: see below
-- i-diff 5: DEL(a__k) from d_del__t1
-- guard: d_del__t1 has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT 1 AS one
      FROM (
        SELECT t1.x AS t1__x, t1.k AS t1__k
        FROM t1 AS t1
        UNION ALL
        SELECT d_minus__t1.t1__x, d_minus__t1.t1__k
        FROM d_minus__t1
      ) AS t1_2
      WHERE EXISTS(SELECT 1 FROM d_del__t1 WHERE d_del__t1.t1__k IS NOT DISTINCT FROM t1_2.t1__k)) AS keys
  )
  AND NOT EXISTS(SELECT 1 FROM t1 AS t1_3);

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__y FROM d_ins__a WHERE EXISTS(SELECT 1 FROM t1 AS t1);
-- i-diff 2: DEL(a__k; knows a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__y FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns a__y) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__y FROM d_upd__a;
-- i-diff 4: INS(a__k; assigns a__y) from d_ins__t1
-- guard: d_ins__t1 has rows
SELECT a.k AS a__k, a.y AS a__y
FROM t0 AS a
WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT 1 AS one FROM d_ins__t1) AS keys);
-- i-diff 5: DEL(a__k) from d_del__t1
-- guard: d_del__t1 has rows
SELECT a.k AS a__k
FROM t0 AS a
WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT 1 AS one FROM d_del__t1) AS keys) AND NOT EXISTS(SELECT 1 FROM t1 AS t1);

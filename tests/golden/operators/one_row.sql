-- title
-- 1: SELECT without FROM and VALUES have no base i-diffs, and no join is written with one row

-- schema
CREATE TABLE t0 (k INT, x INT, y STRING, PRIMARY KEY (k));

-- view
SELECT a.k, c.one, v.q FROM t0 AS a CROSS JOIN (SELECT 1 AS one) AS c JOIN VALUES (1, 'p'), (2, 'q') AS v(x, q) ON v.x = a.x;

-- data
INSERT INTO t0 VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
-- then
UPDATE t0 SET x = 2 WHERE k = 1;
DELETE FROM t0 WHERE k = 2;
INSERT INTO t0 VALUES (4, 1, 'd');
-- then
UPDATE t0 SET x = 1 WHERE k = 3;

-- ids
-- π a__k, c__one, v__col2, v__branch   [ID: a__k, v__branch]
--   ⋈ v__col1 = a__x   [ID: a__k, v__branch]
--     ⋈ TRUE   [ID: a__k]
--       scan t0 as a   [ID: a__k]
--       π 1 → c__one   [ID: ()]
--         one row   [ID: ()]
--     ∪ v of 2 branches   [ID: v__branch]
--       π 1 → v_0__col1, 'p' → v_0__col2   [ID: ()]
--         one row   [ID: ()]
--       π 2 → v_1__col1, 'q' → v_1__col2   [ID: ()]
--         one row   [ID: ()]

-- base diffs
-- INS(a__k; assigns a__x) from d_ins__a
-- DEL(a__k; knows a__x) from d_del__a
-- REC(a__k; knows a__x) from d_rec__a

-- rules
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, v__branch; assigns c__one, v__col2) from d_ins__a: see below
-- i-diff 2: DEL(a__k) from d_del__a: see below
-- i-diff 3: REC(a__k) from d_rec__a: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, v__branch; assigns c__one, v__col2) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, v.v__branch, 1 AS c__one, v.v__col2
FROM d_ins__a
JOIN (
  SELECT 1 AS v__col1, 'p' AS v__col2, 0 AS v__branch
  UNION ALL
  SELECT 2 AS v__col1, 'q' AS v__col2, 1 AS v__branch) AS v
  ON v.v__col1 = d_ins__a.a__x;
-- i-diff 2: DEL(a__k) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k FROM d_del__a;
-- i-diff 3: REC(a__k) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k FROM d_rec__a;

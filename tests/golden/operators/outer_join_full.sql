-- title
-- ⟗: a marker for each side; changes of both bring and take padded rows of the other

-- schema
CREATE TABLE t0 (k INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, z INT, PRIMARY KEY (k));

-- view
SELECT coalesce(a.k, b.k) AS k, a.y, b.z FROM t0 AS a FULL JOIN t1 AS b ON a.k = b.k;

-- data
INSERT INTO t0 VALUES (1, 1), (2, 2);
INSERT INTO t1 VALUES (2, 2), (3, 3);
-- then
DELETE FROM t0 WHERE k = 2;
INSERT INTO t0 VALUES (3, 3);
UPDATE t0 SET y = 9 WHERE k = 1;
-- then
DELETE FROM t1 WHERE k = 3;
INSERT INTO t1 VALUES (1, 1);
UPDATE t1 SET z = 9 WHERE k = 2;

-- ids
-- π a__y, b__z, a__k, b__k, b_2__has_left, b_2__has_right, COALESCE(a__k, b__k) → v__k   [ID: a__k, b__k, b_2__has_left, b_2__has_right]
--   ⟗ a__k = b__k   [ID: a__k, b__k, b_2__has_left, b_2__has_right]
--     scan t0 as a   [ID: a__k]
--     scan t1 as b   [ID: b__k]

-- base diffs
-- INS(a__k; assigns a__y) from d_ins__a
-- DEL(a__k; knows a__y) from d_del__a
-- UPD(a__k; assigns a__y) from d_upd__a
-- INS(b__k; assigns b__z) from d_ins__b
-- DEL(b__k; knows b__z) from d_del__b
-- UPD(b__k; assigns b__z) from d_upd__b

-- rules
-- outer_ins_pads  (ins → 2)
-- outer_del_pads  (del → 2)
-- outer_upd  (upd → 1)
-- outer_ins_pads  (ins → 2)
-- outer_del_pads  (del → 2)
-- outer_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_del  (del → 1)
-- project_ins  (ins → 1)
-- project_upd  (upd → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_del  (del → 1)
-- project_ins  (ins → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_ins__a: see below
-- i-diff 2: DEL(b__k, b_2__has_left) from d_ins__a: see below
-- i-diff 3: DEL(a__k, b_2__has_left; knows a__y) from d_del__a: see below
-- i-diff 4: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_del__a
-- guard: d_del__a has rows
SELECT
  CAST(NULL AS INT) AS a__k,
  b.k AS b__k,
  CAST(NULL AS INT) AS b_2__has_left,
  1 AS b_2__has_right,
  COALESCE(CAST(NULL AS INT), b.k) AS v__k,
  CAST(NULL AS INT) AS a__y,
  b.z AS b__z
FROM t1 AS b
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT a_2.a__k
      FROM (
        SELECT a.k AS a__k, a.y AS a__y
        FROM t0 AS a
        UNION ALL
        SELECT d_minus__a.a__k, d_minus__a.a__y
        FROM d_minus__a
      ) AS a_2
      WHERE EXISTS(SELECT 1 FROM d_del__a WHERE d_del__a.a__k IS NOT DISTINCT FROM a_2.a__k)) AS keys
    WHERE keys.a__k = b.k)
  AND NOT EXISTS(SELECT 1 FROM t0 AS a_3 WHERE a_3.k = b.k);
-- i-diff 5: UPD(a__k, b_2__has_left; assigns a__y) from d_upd__a: see below
-- i-diff 6: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_ins__b: see below
-- i-diff 7: DEL(a__k, b_2__has_right) from d_ins__b: see below
-- i-diff 8: DEL(b__k, b_2__has_right; knows b__z) from d_del__b: see below
-- i-diff 9: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_del__b
-- guard: d_del__b has rows
SELECT
  a.k AS a__k,
  CAST(NULL AS INT) AS b__k,
  1 AS b_2__has_left,
  CAST(NULL AS INT) AS b_2__has_right,
  COALESCE(a.k, CAST(NULL AS INT)) AS v__k,
  a.y AS a__y,
  CAST(NULL AS INT) AS b__z
FROM t0 AS a
WHERE
  EXISTS(
    SELECT 1
    FROM (
      SELECT DISTINCT b_2.b__k
      FROM (
        SELECT b.k AS b__k, b.z AS b__z
        FROM t1 AS b
        UNION ALL
        SELECT d_minus__b.b__k, d_minus__b.b__z
        FROM d_minus__b
      ) AS b_2
      WHERE EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
    WHERE a.k = keys.b__k)
  AND NOT EXISTS(SELECT 1 FROM t1 AS b_3 WHERE a.k = b_3.k);
-- i-diff 10: UPD(b__k, b_2__has_right; assigns b__z) from d_upd__b: see below

-- Δ-script (optimised)
-- i-diff 1: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_ins__a
-- guard: d_ins__a has rows
SELECT
  d_ins__a.a__k,
  b_2.b__k,
  1 AS b_2__has_left,
  b_2.b_2__has_right,
  COALESCE(d_ins__a.a__k, b_2.b__k) AS v__k,
  d_ins__a.a__y,
  b_2.b__z
FROM d_ins__a
LEFT JOIN (SELECT b.k AS b__k, b.z AS b__z, 1 AS b_2__has_right FROM t1 AS b) AS b_2
  ON d_ins__a.a__k = b_2.b__k;
-- i-diff 2: DEL(b__k, b_2__has_left) from d_ins__a
-- guard: d_ins__a has rows
SELECT b.k AS b__k, CAST(NULL AS INT) AS b_2__has_left
FROM t1 AS b
WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_ins__a.a__k FROM d_ins__a) AS keys WHERE keys.a__k = b.k);
-- i-diff 3: DEL(a__k, b_2__has_left; knows a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, 1 AS b_2__has_left, d_del__a.a__y FROM d_del__a;
-- i-diff 4: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_del__a
-- guard: d_del__a has rows
SELECT
  CAST(NULL AS INT) AS a__k,
  b.k AS b__k,
  CAST(NULL AS INT) AS b_2__has_left,
  1 AS b_2__has_right,
  COALESCE(CAST(NULL AS INT), b.k) AS v__k,
  CAST(NULL AS INT) AS a__y,
  b.z AS b__z
FROM t1 AS b
WHERE
  EXISTS(SELECT 1 FROM (SELECT DISTINCT d_del__a.a__k FROM d_del__a) AS keys WHERE keys.a__k = b.k)
  AND NOT EXISTS(SELECT 1 FROM t0 AS a WHERE a.k = b.k);
-- i-diff 5: UPD(a__k, b_2__has_left; assigns a__y) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, 1 AS b_2__has_left, d_upd__a.a__y FROM d_upd__a;
-- i-diff 6: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_ins__b
-- guard: d_ins__b has rows
SELECT
  b_2.a__k,
  d_ins__b.b__k,
  b_2.b_2__has_right AS b_2__has_left,
  1 AS b_2__has_right,
  COALESCE(b_2.a__k, d_ins__b.b__k) AS v__k,
  b_2.a__y,
  d_ins__b.b__z
FROM d_ins__b
LEFT JOIN (SELECT a.k AS a__k, a.y AS a__y, 1 AS b_2__has_right FROM t0 AS a) AS b_2
  ON b_2.a__k = d_ins__b.b__k;
-- i-diff 7: DEL(a__k, b_2__has_right) from d_ins__b
-- guard: d_ins__b has rows
SELECT a.k AS a__k, CAST(NULL AS INT) AS b_2__has_right
FROM t0 AS a
WHERE EXISTS(SELECT 1 FROM (SELECT DISTINCT d_ins__b.b__k FROM d_ins__b) AS keys WHERE a.k = keys.b__k);
-- i-diff 8: DEL(b__k, b_2__has_right; knows b__z) from d_del__b
-- guard: d_del__b has rows
SELECT d_del__b.b__k, 1 AS b_2__has_right, d_del__b.b__z FROM d_del__b;
-- i-diff 9: INS(a__k, b__k, b_2__has_left, b_2__has_right; assigns v__k, a__y, b__z) from d_del__b
-- guard: d_del__b has rows
SELECT
  a.k AS a__k,
  CAST(NULL AS INT) AS b__k,
  1 AS b_2__has_left,
  CAST(NULL AS INT) AS b_2__has_right,
  COALESCE(a.k, CAST(NULL AS INT)) AS v__k,
  a.y AS a__y,
  CAST(NULL AS INT) AS b__z
FROM t0 AS a
WHERE
  EXISTS(SELECT 1 FROM (SELECT DISTINCT d_del__b.b__k FROM d_del__b) AS keys WHERE a.k = keys.b__k)
  AND NOT EXISTS(SELECT 1 FROM t1 AS b WHERE a.k = b.k);
-- i-diff 10: UPD(b__k, b_2__has_right; assigns b__z) from d_upd__b
-- guard: d_upd__b has rows
SELECT d_upd__b.b__k, 1 AS b_2__has_right, d_upd__b.b__z FROM d_upd__b;

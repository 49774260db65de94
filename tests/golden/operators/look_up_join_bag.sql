-- title
-- ⟕ along a group, the key of the right input, where rows of the left one have no key: those that come are recomputed

-- schema
CREATE TABLE t0 (k INT, x INT, PRIMARY KEY (k));
CREATE TABLE t1 (x INT, y INT);

-- view
SELECT a.x, b.z FROM (SELECT x FROM t0 UNION ALL SELECT x FROM t1) AS a
LEFT JOIN (SELECT x, count(*) AS z FROM t1 GROUP BY x) AS b ON b.x = a.x;

-- data
INSERT INTO t0 VALUES (1, 1), (2, NULL), (3, 3);
INSERT INTO t1 VALUES (1, 1), (1, 1), (NULL, 2), (2, 2);
-- then
INSERT INTO t1 VALUES (1, 1), (NULL, 3);
INSERT INTO t0 VALUES (4, 1);
-- then
DELETE FROM t1 WHERE x = 2;
DELETE FROM t0 WHERE k = 1;
UPDATE t0 SET x = 1 WHERE k = 3;

-- ids
-- π a__x, b__z, a__branch, a__0__t0__k, a__1__t1__x   [ID, not unique: a__branch, a__0__t0__k, a__1__t1__x]
--   ⟕ t1_2__x = a__x   [ID, not unique: a__branch, a__0__t0__k, a__1__t1__x]
--     ∪ a of 2 branches   [ID, not unique: a__branch, a__0__t0__k, a__1__t1__x]
--       scan t0   [ID: t0__k]
--       scan t1   [ID, not unique: t1__x]
--     γ t1_2__x; COUNT(*) → b__z   [ID: t1_2__x]
--       scan t1 as t1_2   [ID, not unique: t1_2__x]

-- base diffs
-- INS(t0__k; assigns t0__x) from d_ins__t0
-- DEL(t0__k; knows t0__x) from d_del__t0
-- REC(t0__k; knows t0__x) from d_rec__t0
-- REC(t1__x) from d_rec__t1
-- REC(t1_2__x) from d_rec__t1_2

-- rules
-- union_ins  (ins → 1)
-- union_del  (del → 1)
-- union_rec  (rec → 1)
-- union_rec  (rec → 1)
-- look_up_ins_bag  (ins → 1)
-- look_up_del  (del → 1)
-- look_up_rec  (rec → 1)
-- look_up_rec  (rec → 1)
-- aggregate_rec  (rec → 1)
-- looked_up_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: REC(a__branch, a__0__t0__k, a__1__t1__x; knows a__x) from d_ins__t0: see below
-- i-diff 2: DEL(a__branch, a__0__t0__k; knows a__x, a__1__t1__x) from d_del__t0: see below
-- i-diff 3: REC(a__branch, a__0__t0__k; knows a__x, a__1__t1__x) from d_rec__t0: see below
-- i-diff 4: REC(a__branch, a__1__t1__x; knows a__x, a__0__t0__k) from d_rec__t1: see below
-- i-diff 5: UPD(a__x; assigns b__z) from d_rec__t1_2
-- guard: d_rec__t1_2 has rows
SELECT keys_2.t1_2__x AS a__x, groups.b__z
FROM (
  SELECT DISTINCT t1_2_2.t1_2__x
  FROM (SELECT t1_2.x AS t1_2__x FROM t1 AS t1_2 UNION ALL SELECT d_minus__t1_2.t1_2__x FROM d_minus__t1_2) AS t1_2_2
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT t1_2_4.t1_2__x
        FROM (
          SELECT t1_2_3.x AS t1_2__x
          FROM t1 AS t1_2_3
          UNION ALL
          SELECT d_minus__t1_2_2.t1_2__x
          FROM d_minus__t1_2 AS d_minus__t1_2_2
        ) AS t1_2_4
        WHERE EXISTS(SELECT 1 FROM d_rec__t1_2 WHERE d_rec__t1_2.t1_2__x IS NOT DISTINCT FROM t1_2_4.t1_2__x)) AS keys
      WHERE keys.t1_2__x IS NOT DISTINCT FROM t1_2_2.t1_2__x)
) AS keys_2
LEFT JOIN (
  SELECT t1_2_5.x AS t1_2__x, COUNT(*) AS b__z
  FROM t1 AS t1_2_5
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT t1_2_7.t1_2__x
        FROM (
          SELECT t1_2_6.x AS t1_2__x
          FROM t1 AS t1_2_6
          UNION ALL
          SELECT d_minus__t1_2_3.t1_2__x
          FROM d_minus__t1_2 AS d_minus__t1_2_3
        ) AS t1_2_7
        WHERE
          EXISTS(
            SELECT 1
            FROM (
              SELECT DISTINCT t1_2_9.t1_2__x
              FROM (
                SELECT t1_2_8.x AS t1_2__x
                FROM t1 AS t1_2_8
                UNION ALL
                SELECT d_minus__t1_2_4.t1_2__x
                FROM d_minus__t1_2 AS d_minus__t1_2_4
              ) AS t1_2_9
              WHERE
                EXISTS(
                  SELECT 1
                  FROM d_rec__t1_2 AS d_rec__t1_2_2
                  WHERE d_rec__t1_2_2.t1_2__x IS NOT DISTINCT FROM t1_2_9.t1_2__x)
            ) AS keys_3
            WHERE keys_3.t1_2__x IS NOT DISTINCT FROM t1_2_7.t1_2__x)
      ) AS keys_4
      WHERE NOT keys_4.t1_2__x IS NULL AND keys_4.t1_2__x IS NOT DISTINCT FROM t1_2_5.x)
  GROUP BY t1_2_5.x) AS groups
  ON groups.t1_2__x = keys_2.t1_2__x
WHERE NOT keys_2.t1_2__x IS NULL;

-- Δ-script (optimised)
-- i-diff 1: DEL(a__branch, a__0__t0__k; knows a__x, a__1__t1__x) from d_del__t0
-- guard: d_del__t0 has rows
SELECT 0 AS a__branch, d_del__t0.t0__k AS a__0__t0__k, d_del__t0.t0__x AS a__x, NULL AS a__1__t1__x FROM d_del__t0;
-- i-diff 2: UPD(a__x; assigns b__z) from d_rec__t1_2
-- guard: d_rec__t1_2 has rows
SELECT keys.t1_2__x AS a__x, groups.b__z
FROM (SELECT DISTINCT d_rec__t1_2.t1_2__x FROM d_rec__t1_2) AS keys
LEFT JOIN (
  SELECT t1_2.x AS t1_2__x, COUNT(*) AS b__z
  FROM t1 AS t1_2
  WHERE
    EXISTS(
      SELECT 1
      FROM (SELECT DISTINCT d_rec__t1_2_2.t1_2__x FROM d_rec__t1_2 AS d_rec__t1_2_2) AS keys_2
      WHERE NOT keys_2.t1_2__x IS NULL AND keys_2.t1_2__x IS NOT DISTINCT FROM t1_2.x)
  GROUP BY t1_2.x) AS groups
  ON groups.t1_2__x = keys.t1_2__x
WHERE NOT keys.t1_2__x IS NULL;
-- i-diff 3: REC(a__branch, a__0__t0__k, a__1__t1__x; knows a__x) from d_ins__t0
-- guard: d_ins__t0 has rows
SELECT 0 AS a__branch, d_ins__t0.t0__k AS a__0__t0__k, NULL AS a__1__t1__x, d_ins__t0.t0__x AS a__x FROM d_ins__t0;
-- i-diff 4: REC(a__branch, a__0__t0__k; knows a__x, a__1__t1__x) from d_rec__t0
-- guard: d_rec__t0 has rows
SELECT 0 AS a__branch, d_rec__t0.t0__k AS a__0__t0__k, d_rec__t0.t0__x AS a__x, NULL AS a__1__t1__x FROM d_rec__t0;
-- i-diff 5: REC(a__branch, a__1__t1__x; knows a__x, a__0__t0__k) from d_rec__t1
-- guard: d_rec__t1 has rows
SELECT 1 AS a__branch, d_rec__t1.t1__x AS a__1__t1__x, d_rec__t1.t1__x AS a__x, NULL AS a__0__t0__k FROM d_rec__t1;

-- title
-- ⟕ of ⟕: a row that is looked up brings another attribute to look up by, so that the rows are recomputed; a condition above

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, s INT, z INT, PRIMARY KEY (k));
CREATE TABLE t2 (k INT, w INT, PRIMARY KEY (k));

-- view
SELECT a.k, a.y, b.z, c.w FROM t0 AS a LEFT JOIN t1 AS b ON b.k = a.x LEFT JOIN t2 AS c ON c.k = b.s WHERE c.w > 1 OR c.w IS NULL;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 2, 2), (3, NULL, 3), (4, 1, 4);
INSERT INTO t1 VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO t2 VALUES (1, 1), (2, 2);
-- then
UPDATE t1 SET s = 2 WHERE k = 1;
UPDATE t2 SET w = 5 WHERE k = 1;
-- then
INSERT INTO t1 VALUES (3, 1, 3);
UPDATE t0 SET x = 3 WHERE k = 3;
DELETE FROM t2 WHERE k = 2;
-- then
DELETE FROM t1 WHERE k = 1;
UPDATE t2 SET w = 1 WHERE k = 1;

-- ids
-- π a__k, a__y, b__z, c__w, a__x, b__s   [ID: a__k]
--   σ c__w > 1 OR c__w IS NULL   [ID: a__k]
--     ⟕ c__k = b__s   [ID: a__k]
--       ⟕ b__k = a__x   [ID: a__k]
--         scan t0 as a   [ID: a__k]
--         scan t1 as b   [ID: b__k]
--       scan t2 as c   [ID: c__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__s, b__z) from d_ins__b
-- DEL(b__k; knows b__s, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__s) from d_upd__b
-- REC(b__k; knows b__s, b__z) from d_rec__b
-- INS(c__k; assigns c__w) from d_ins__c
-- DEL(c__k; knows c__w) from d_del__c
-- REC(c__k; knows c__w) from d_rec__c

-- rules
-- look_up_ins  (ins → 1)
-- look_up_del  (del → 1)
-- look_up_upd  (upd → 1)
-- look_up_rec  (rec → 1)
-- looked_up_ins  (ins → 1)
-- looked_up_del  (del → 1)
-- looked_up_upd  (upd → 1)
-- looked_up_rec  (rec → 1)
-- look_up_ins  (ins → 1)
-- look_up_del  (del → 1)
-- look_up_upd  (upd → 1)
-- look_up_rec  (rec → 1)
-- look_up_upd_condition  (upd → 1)
-- look_up_upd_condition  (upd → 1)
-- look_up_upd  (upd → 1)
-- look_up_upd_condition  (upd → 1)
-- looked_up_ins  (ins → 1)
-- looked_up_del  (del → 1)
-- looked_up_rec  (rec → 1)
-- select_ins  (ins → 1)
-- select_del  (del → 1)
-- select_upd  (upd → 1)
-- select_rec  (rec → 1)
-- select_upd  (upd → 1)
-- select_upd_condition  (upd → 1)
-- select_upd_condition  (upd → 1)
-- select_upd_condition  (upd → 1)
-- select_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_upd  (upd → 1)
-- project_rec  (rec → 1)
-- project_rec  (rec → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns a__y, b__z, c__w, a__x, b__s) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__y, a__x) from d_del__a: see below
-- i-diff 3: UPD(a__k; assigns a__y; knows a__x) from d_upd__a: see below
-- i-diff 4: REC(a__k; knows a__y, a__x) from d_rec__a: see below
-- i-diff 5: UPD(a__x; assigns b__z; knows b__s) from d_upd__b: see below
-- i-diff 6: REC(b__s) from d_del__c+d_ins__c+d_rec__c
-- guard: d_del__c has rows or d_ins__c has rows or d_rec__c has rows
SELECT keys_3.b__s
FROM (
  SELECT DISTINCT united.b__s
  FROM (
    SELECT d_ins__c.c__k AS b__s
    FROM d_ins__c
    WHERE NOT d_ins__c.c__k IS NULL
    UNION ALL
    SELECT d_del__c.c__k AS b__s
    FROM d_del__c
    WHERE NOT d_del__c.c__k IS NULL
    UNION ALL
    SELECT keys.c__k AS b__s
    FROM (
      SELECT DISTINCT c_2.c__k
      FROM (
        SELECT c.k AS c__k, c.w AS c__w
        FROM t2 AS c
        UNION ALL
        SELECT d_minus__c.c__k, d_minus__c.c__w
        FROM d_minus__c
      ) AS c_2
      WHERE EXISTS(SELECT 1 FROM d_rec__c WHERE d_rec__c.c__k IS NOT DISTINCT FROM c_2.c__k)) AS keys
    LEFT JOIN (
      SELECT c_3.k AS c__k, c_3.w AS c__w
      FROM t2 AS c_3
      WHERE
        EXISTS(
          SELECT 1
          FROM (
            SELECT DISTINCT c_5.c__k
            FROM (
              SELECT c_4.k AS c__k, c_4.w AS c__w
              FROM t2 AS c_4
              UNION ALL
              SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
              FROM d_minus__c AS d_minus__c_2
            ) AS c_5
            WHERE
              EXISTS(SELECT 1 FROM d_rec__c AS d_rec__c_2 WHERE d_rec__c_2.c__k IS NOT DISTINCT FROM c_5.c__k)
          ) AS keys_2
          WHERE NOT keys_2.c__k IS NULL AND keys_2.c__k IS NOT DISTINCT FROM c_3.k)
    ) AS c_2_2 ON c_2_2.c__k = keys.c__k
    WHERE NOT keys.c__k IS NULL) AS united
) AS keys_3;
-- i-diff 7: REC(a__x) from d_del__b+d_ins__b+d_rec__b
-- guard: d_del__b has rows or d_ins__b has rows or d_rec__b has rows
SELECT keys_3.a__x
FROM (
  SELECT DISTINCT united.a__x
  FROM (
    SELECT d_ins__b.b__k AS a__x
    FROM d_ins__b
    WHERE NOT d_ins__b.b__k IS NULL
    UNION ALL
    SELECT d_del__b.b__k AS a__x
    FROM d_del__b
    WHERE NOT d_del__b.b__k IS NULL
    UNION ALL
    SELECT keys.b__k AS a__x
    FROM (
      SELECT DISTINCT b_2.b__k
      FROM (
        SELECT b.k AS b__k, b.s AS b__s, b.z AS b__z
        FROM t1 AS b
        UNION ALL
        SELECT d_minus__b.b__k, d_minus__b.b__s, d_minus__b.b__z
        FROM d_minus__b
      ) AS b_2
      WHERE EXISTS(SELECT 1 FROM d_rec__b WHERE d_rec__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
    LEFT JOIN (
      SELECT b_3.k AS b__k, b_3.s AS b__s, b_3.z AS b__z
      FROM t1 AS b_3
      WHERE
        EXISTS(
          SELECT 1
          FROM (
            SELECT DISTINCT b_5.b__k
            FROM (
              SELECT b_4.k AS b__k, b_4.s AS b__s, b_4.z AS b__z
              FROM t1 AS b_4
              UNION ALL
              SELECT d_minus__b_2.b__k, d_minus__b_2.b__s, d_minus__b_2.b__z
              FROM d_minus__b AS d_minus__b_2
            ) AS b_5
            WHERE
              EXISTS(SELECT 1 FROM d_rec__b AS d_rec__b_2 WHERE d_rec__b_2.b__k IS NOT DISTINCT FROM b_5.b__k)
          ) AS keys_2
          WHERE NOT keys_2.b__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    ) AS b_2_2 ON b_2_2.b__k = keys.b__k
    WHERE NOT keys.b__k IS NULL) AS united
) AS keys_3;

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns a__y, b__z, c__w, a__x, b__s) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, d_ins__a.a__y, b.z AS b__z, c.w AS c__w, d_ins__a.a__x, b.s AS b__s
FROM d_ins__a
LEFT JOIN t1 AS b ON b.k = d_ins__a.a__x
LEFT JOIN t2 AS c ON c.k = b.s
WHERE c.w > 1 OR c.w IS NULL;
-- i-diff 2: DEL(a__k; knows a__y, a__x) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__y, d_del__a.a__x FROM d_del__a;
-- i-diff 3: UPD(a__k; assigns a__y; knows a__x) from d_upd__a
-- guard: d_upd__a has rows
SELECT d_upd__a.a__k, d_upd__a.a__y, d_upd__a.a__x FROM d_upd__a;
-- i-diff 4: UPD(a__x; assigns b__z; knows b__s) from d_upd__b
-- guard: d_upd__b has rows
SELECT d_upd__b.b__k AS a__x, d_upd__b.b__z, d_upd__b.b__s FROM d_upd__b WHERE NOT d_upd__b.b__k IS NULL;
-- i-diff 5: REC(a__k; knows a__y, a__x) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__y, d_rec__a.a__x FROM d_rec__a;
-- i-diff 6: REC(b__s) from d_del__c+d_ins__c+d_rec__c
-- guard: d_del__c has rows or d_ins__c has rows or d_rec__c has rows
SELECT keys_3.b__s
FROM (
  SELECT DISTINCT united.b__s
  FROM (
    SELECT d_ins__c.c__k AS b__s
    FROM d_ins__c
    WHERE NOT d_ins__c.c__k IS NULL
    UNION ALL
    SELECT d_del__c.c__k AS b__s
    FROM d_del__c
    WHERE NOT d_del__c.c__k IS NULL
    UNION ALL
    SELECT keys.c__k AS b__s
    FROM (SELECT DISTINCT d_rec__c.c__k FROM d_rec__c) AS keys
    LEFT JOIN (
      SELECT d_plus__c.c__k, d_plus__c.c__w
      FROM d_plus__c
      WHERE
        EXISTS(
          SELECT 1
          FROM (SELECT DISTINCT d_rec__c_2.c__k FROM d_rec__c AS d_rec__c_2) AS keys_2
          WHERE NOT keys_2.c__k IS NULL AND keys_2.c__k IS NOT DISTINCT FROM d_plus__c.c__k)
    ) AS c_2 ON c_2.c__k = keys.c__k
    WHERE NOT keys.c__k IS NULL) AS united
) AS keys_3;
-- i-diff 7: REC(a__x) from d_del__b+d_ins__b+d_rec__b
-- guard: d_del__b has rows or d_ins__b has rows or d_rec__b has rows
SELECT keys_3.a__x
FROM (
  SELECT DISTINCT united.a__x
  FROM (
    SELECT d_ins__b.b__k AS a__x
    FROM d_ins__b
    WHERE NOT d_ins__b.b__k IS NULL
    UNION ALL
    SELECT d_del__b.b__k AS a__x
    FROM d_del__b
    WHERE NOT d_del__b.b__k IS NULL
    UNION ALL
    SELECT keys.b__k AS a__x
    FROM (SELECT DISTINCT d_rec__b.b__k FROM d_rec__b) AS keys
    LEFT JOIN (
      SELECT d_plus__b.b__k, d_plus__b.b__s, d_plus__b.b__z
      FROM d_plus__b
      WHERE
        EXISTS(
          SELECT 1
          FROM (SELECT DISTINCT d_rec__b_2.b__k FROM d_rec__b AS d_rec__b_2) AS keys_2
          WHERE NOT keys_2.b__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM d_plus__b.b__k)
    ) AS b_2 ON b_2.b__k = keys.b__k
    WHERE NOT keys.b__k IS NULL) AS united
) AS keys_3;

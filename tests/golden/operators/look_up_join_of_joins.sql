-- title
-- ⟕ along the key of a ⋈: a change of one of its tables names rows by a part of that key, and may name rows that it does not have

-- schema
CREATE TABLE t0 (k INT, x INT, y INT, PRIMARY KEY (k));
CREATE TABLE t1 (k INT, v INT, z INT, PRIMARY KEY (k));
CREATE TABLE t2 (k INT, w INT, PRIMARY KEY (k));

-- view
SELECT a.k, r.z, r.w FROM t0 AS a LEFT JOIN (SELECT b.k AS bk, c.k AS ck, b.z, c.w FROM t1 AS b JOIN t2 AS c ON c.w < b.v) AS r
  ON r.bk = a.x AND r.ck = a.y;

-- data
INSERT INTO t0 VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, NULL, 1);
INSERT INTO t1 VALUES (1, 2, 1), (2, 3, 2);
INSERT INTO t2 VALUES (1, 1), (2, 2);
-- then
UPDATE t1 SET z = 5 WHERE k = 1;
DELETE FROM t2 WHERE k = 1;
-- then
INSERT INTO t2 VALUES (1, 0);
UPDATE t1 SET v = 9 WHERE k = 1;
-- then
DELETE FROM t1 WHERE k = 2;
INSERT INTO t0 VALUES (5, 1, 2);

-- ids
-- π a__k, b__z, c__w, a__x, a__y   [ID: a__k]
--   ⟕ b__k = a__x AND c__k = a__y   [ID: a__k]
--     scan t0 as a   [ID: a__k]
--     ⋈ c__w < b__v   [ID: b__k, c__k]
--       scan t1 as b   [ID: b__k]
--       scan t2 as c   [ID: c__k]

-- base diffs
-- INS(a__k; assigns a__x, a__y) from d_ins__a
-- DEL(a__k; knows a__x, a__y) from d_del__a
-- REC(a__k; knows a__x, a__y) from d_rec__a
-- INS(b__k; assigns b__v, b__z) from d_ins__b
-- DEL(b__k; knows b__v, b__z) from d_del__b
-- UPD(b__k; assigns b__z; knows b__v) from d_upd__b
-- REC(b__k; knows b__v, b__z) from d_rec__b
-- INS(c__k; assigns c__w) from d_ins__c
-- DEL(c__k; knows c__w) from d_del__c
-- REC(c__k; knows c__w) from d_rec__c

-- rules
-- look_up_ins  (ins → 1)
-- look_up_del  (del → 1)
-- look_up_rec  (rec → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_upd  (upd → 1)
-- join_rec  (rec → 1)
-- join_ins  (ins → 1)
-- join_del  (del → 1)
-- join_rec  (rec → 1)
-- looked_up_ins  (ins → 1)
-- looked_up_del_unknown  (del → 1)
-- looked_up_upd_unknown  (upd → 1)
-- looked_up_rec  (rec → 1)
-- looked_up_ins  (ins → 1)
-- looked_up_del_unknown  (del → 1)
-- looked_up_rec  (rec → 1)
-- project_ins  (ins → 1)
-- project_del  (del → 1)
-- project_rec  (rec → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)
-- project_upd  (upd → 1)

-- Δ-script (naive)
-- i-diff 1: INS(a__k; assigns b__z, c__w, a__x, a__y) from d_ins__a: see below
-- i-diff 2: DEL(a__k; knows a__x, a__y) from d_del__a: see below
-- i-diff 3: REC(a__k; knows a__x, a__y) from d_rec__a: see below
-- i-diff 4: UPD(a__x, a__y; assigns b__z, c__w) from d_ins__b: see below
-- i-diff 5: UPD(a__x, a__y; assigns b__z, c__w) from d_del__b
-- guard: d_del__b has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b_2.b__k, c_2.c__k
  FROM (
    SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z
    FROM t1 AS b
    UNION ALL
    SELECT d_minus__b.b__k, d_minus__b.b__v, d_minus__b.b__z
    FROM d_minus__b
  ) AS b_2
  JOIN (
    SELECT c.k AS c__k, c.w AS c__w
    FROM t2 AS c
    UNION ALL
    SELECT d_minus__c.c__k, d_minus__c.c__w
    FROM d_minus__c
  ) AS c_2 ON c_2.c__w < b_2.b__v
  WHERE EXISTS(SELECT 1 FROM d_del__b WHERE d_del__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
LEFT JOIN (
  SELECT b_3.k AS b__k, b_3.v AS b__v, b_3.z AS b__z, c_5.k AS c__k, c_5.w AS c__w
  FROM t1 AS b_3
  JOIN t2 AS c_5 ON c_5.w < b_3.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.b__k, c_4.c__k
        FROM (
          SELECT b_4.k AS b__k, b_4.v AS b__v, b_4.z AS b__z
          FROM t1 AS b_4
          UNION ALL
          SELECT d_minus__b_2.b__k, d_minus__b_2.b__v, d_minus__b_2.b__z
          FROM d_minus__b AS d_minus__b_2
        ) AS b_5
        JOIN (
          SELECT c_3.k AS c__k, c_3.w AS c__w
          FROM t2 AS c_3
          UNION ALL
          SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
          FROM d_minus__c AS d_minus__c_2
        ) AS c_4 ON c_4.c__w < b_5.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_del__b AS d_del__b_2 WHERE d_del__b_2.b__k IS NOT DISTINCT FROM b_5.b__k)
      ) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_7.b__k, c_7.c__k
        FROM (
          SELECT b_6.k AS b__k, b_6.v AS b__v, b_6.z AS b__z
          FROM t1 AS b_6
          UNION ALL
          SELECT d_minus__b_3.b__k, d_minus__b_3.b__v, d_minus__b_3.b__z
          FROM d_minus__b AS d_minus__b_3
        ) AS b_7
        JOIN (
          SELECT c_6.k AS c__k, c_6.w AS c__w
          FROM t2 AS c_6
          UNION ALL
          SELECT d_minus__c_3.c__k, d_minus__c_3.c__w
          FROM d_minus__c AS d_minus__c_3
        ) AS c_7 ON c_7.c__w < b_7.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_del__b AS d_del__b_3 WHERE d_del__b_3.b__k IS NOT DISTINCT FROM b_7.b__k)
      ) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_5.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_9.b__k, c_9.c__k
        FROM (
          SELECT b_8.k AS b__k, b_8.v AS b__v, b_8.z AS b__z
          FROM t1 AS b_8
          UNION ALL
          SELECT d_minus__b_4.b__k, d_minus__b_4.b__v, d_minus__b_4.b__z
          FROM d_minus__b AS d_minus__b_4
        ) AS b_9
        JOIN (
          SELECT c_8.k AS c__k, c_8.w AS c__w
          FROM t2 AS c_8
          UNION ALL
          SELECT d_minus__c_4.c__k, d_minus__c_4.c__w
          FROM d_minus__c AS d_minus__c_4
        ) AS c_9 ON c_9.c__w < b_9.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_del__b AS d_del__b_4 WHERE d_del__b_4.b__k IS NOT DISTINCT FROM b_9.b__k)
      ) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_3.k
        AND keys_4.c__k IS NOT DISTINCT FROM c_5.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 6: UPD(a__x, a__y; assigns b__z, c__w) from d_upd__b
-- guard: d_upd__b has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b.k AS b__k, c.k AS c__k
  FROM t1 AS b
  JOIN t2 AS c ON c.w < b.v
  WHERE EXISTS(SELECT 1 FROM d_upd__b WHERE d_upd__b.b__k IS NOT DISTINCT FROM b.k)) AS keys
LEFT JOIN (
  SELECT b_2.k AS b__k, b_2.v AS b__v, b_2.z AS b__z, c_3.k AS c__k, c_3.w AS c__w
  FROM t1 AS b_2
  JOIN t2 AS c_3 ON c_3.w < b_2.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_3.k AS b__k, c_2.k AS c__k
        FROM t1 AS b_3
        JOIN t2 AS c_2 ON c_2.w < b_3.v
        WHERE EXISTS(SELECT 1 FROM d_upd__b AS d_upd__b_2 WHERE d_upd__b_2.b__k IS NOT DISTINCT FROM b_3.k)) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_2.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_4.k AS b__k, c_4.k AS c__k
        FROM t1 AS b_4
        JOIN t2 AS c_4 ON c_4.w < b_4.v
        WHERE EXISTS(SELECT 1 FROM d_upd__b AS d_upd__b_3 WHERE d_upd__b_3.b__k IS NOT DISTINCT FROM b_4.k)) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.k AS b__k, c_5.k AS c__k
        FROM t1 AS b_5
        JOIN t2 AS c_5 ON c_5.w < b_5.v
        WHERE EXISTS(SELECT 1 FROM d_upd__b AS d_upd__b_4 WHERE d_upd__b_4.b__k IS NOT DISTINCT FROM b_5.k)) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_2.k
        AND keys_4.c__k IS NOT DISTINCT FROM c_3.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 7: UPD(a__x, a__y; assigns b__z, c__w) from d_rec__b
-- guard: d_rec__b has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b_2.b__k, c_2.c__k
  FROM (
    SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z
    FROM t1 AS b
    UNION ALL
    SELECT d_minus__b.b__k, d_minus__b.b__v, d_minus__b.b__z
    FROM d_minus__b
  ) AS b_2
  JOIN (
    SELECT c.k AS c__k, c.w AS c__w
    FROM t2 AS c
    UNION ALL
    SELECT d_minus__c.c__k, d_minus__c.c__w
    FROM d_minus__c
  ) AS c_2 ON c_2.c__w < b_2.b__v
  WHERE EXISTS(SELECT 1 FROM d_rec__b WHERE d_rec__b.b__k IS NOT DISTINCT FROM b_2.b__k)) AS keys
LEFT JOIN (
  SELECT b_3.k AS b__k, b_3.v AS b__v, b_3.z AS b__z, c_5.k AS c__k, c_5.w AS c__w
  FROM t1 AS b_3
  JOIN t2 AS c_5 ON c_5.w < b_3.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.b__k, c_4.c__k
        FROM (
          SELECT b_4.k AS b__k, b_4.v AS b__v, b_4.z AS b__z
          FROM t1 AS b_4
          UNION ALL
          SELECT d_minus__b_2.b__k, d_minus__b_2.b__v, d_minus__b_2.b__z
          FROM d_minus__b AS d_minus__b_2
        ) AS b_5
        JOIN (
          SELECT c_3.k AS c__k, c_3.w AS c__w
          FROM t2 AS c_3
          UNION ALL
          SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
          FROM d_minus__c AS d_minus__c_2
        ) AS c_4 ON c_4.c__w < b_5.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_rec__b AS d_rec__b_2 WHERE d_rec__b_2.b__k IS NOT DISTINCT FROM b_5.b__k)
      ) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_7.b__k, c_7.c__k
        FROM (
          SELECT b_6.k AS b__k, b_6.v AS b__v, b_6.z AS b__z
          FROM t1 AS b_6
          UNION ALL
          SELECT d_minus__b_3.b__k, d_minus__b_3.b__v, d_minus__b_3.b__z
          FROM d_minus__b AS d_minus__b_3
        ) AS b_7
        JOIN (
          SELECT c_6.k AS c__k, c_6.w AS c__w
          FROM t2 AS c_6
          UNION ALL
          SELECT d_minus__c_3.c__k, d_minus__c_3.c__w
          FROM d_minus__c AS d_minus__c_3
        ) AS c_7 ON c_7.c__w < b_7.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_rec__b AS d_rec__b_3 WHERE d_rec__b_3.b__k IS NOT DISTINCT FROM b_7.b__k)
      ) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_5.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_9.b__k, c_9.c__k
        FROM (
          SELECT b_8.k AS b__k, b_8.v AS b__v, b_8.z AS b__z
          FROM t1 AS b_8
          UNION ALL
          SELECT d_minus__b_4.b__k, d_minus__b_4.b__v, d_minus__b_4.b__z
          FROM d_minus__b AS d_minus__b_4
        ) AS b_9
        JOIN (
          SELECT c_8.k AS c__k, c_8.w AS c__w
          FROM t2 AS c_8
          UNION ALL
          SELECT d_minus__c_4.c__k, d_minus__c_4.c__w
          FROM d_minus__c AS d_minus__c_4
        ) AS c_9 ON c_9.c__w < b_9.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_rec__b AS d_rec__b_4 WHERE d_rec__b_4.b__k IS NOT DISTINCT FROM b_9.b__k)
      ) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_3.k
        AND keys_4.c__k IS NOT DISTINCT FROM c_5.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 8: UPD(a__x, a__y; assigns b__z, c__w) from d_ins__c: see below
-- i-diff 9: UPD(a__x, a__y; assigns b__z, c__w) from d_del__c
-- guard: d_del__c has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b_2.b__k, c_2.c__k
  FROM (
    SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z
    FROM t1 AS b
    UNION ALL
    SELECT d_minus__b.b__k, d_minus__b.b__v, d_minus__b.b__z
    FROM d_minus__b
  ) AS b_2
  JOIN (
    SELECT c.k AS c__k, c.w AS c__w
    FROM t2 AS c
    UNION ALL
    SELECT d_minus__c.c__k, d_minus__c.c__w
    FROM d_minus__c
  ) AS c_2 ON c_2.c__w < b_2.b__v
  WHERE EXISTS(SELECT 1 FROM d_del__c WHERE d_del__c.c__k IS NOT DISTINCT FROM c_2.c__k)) AS keys
LEFT JOIN (
  SELECT b_3.k AS b__k, b_3.v AS b__v, b_3.z AS b__z, c_5.k AS c__k, c_5.w AS c__w
  FROM t1 AS b_3
  JOIN t2 AS c_5 ON c_5.w < b_3.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.b__k, c_4.c__k
        FROM (
          SELECT b_4.k AS b__k, b_4.v AS b__v, b_4.z AS b__z
          FROM t1 AS b_4
          UNION ALL
          SELECT d_minus__b_2.b__k, d_minus__b_2.b__v, d_minus__b_2.b__z
          FROM d_minus__b AS d_minus__b_2
        ) AS b_5
        JOIN (
          SELECT c_3.k AS c__k, c_3.w AS c__w
          FROM t2 AS c_3
          UNION ALL
          SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
          FROM d_minus__c AS d_minus__c_2
        ) AS c_4 ON c_4.c__w < b_5.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_del__c AS d_del__c_2 WHERE d_del__c_2.c__k IS NOT DISTINCT FROM c_4.c__k)
      ) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_7.b__k, c_7.c__k
        FROM (
          SELECT b_6.k AS b__k, b_6.v AS b__v, b_6.z AS b__z
          FROM t1 AS b_6
          UNION ALL
          SELECT d_minus__b_3.b__k, d_minus__b_3.b__v, d_minus__b_3.b__z
          FROM d_minus__b AS d_minus__b_3
        ) AS b_7
        JOIN (
          SELECT c_6.k AS c__k, c_6.w AS c__w
          FROM t2 AS c_6
          UNION ALL
          SELECT d_minus__c_3.c__k, d_minus__c_3.c__w
          FROM d_minus__c AS d_minus__c_3
        ) AS c_7 ON c_7.c__w < b_7.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_del__c AS d_del__c_3 WHERE d_del__c_3.c__k IS NOT DISTINCT FROM c_7.c__k)
      ) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_5.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_9.b__k, c_9.c__k
        FROM (
          SELECT b_8.k AS b__k, b_8.v AS b__v, b_8.z AS b__z
          FROM t1 AS b_8
          UNION ALL
          SELECT d_minus__b_4.b__k, d_minus__b_4.b__v, d_minus__b_4.b__z
          FROM d_minus__b AS d_minus__b_4
        ) AS b_9
        JOIN (
          SELECT c_8.k AS c__k, c_8.w AS c__w
          FROM t2 AS c_8
          UNION ALL
          SELECT d_minus__c_4.c__k, d_minus__c_4.c__w
          FROM d_minus__c AS d_minus__c_4
        ) AS c_9 ON c_9.c__w < b_9.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_del__c AS d_del__c_4 WHERE d_del__c_4.c__k IS NOT DISTINCT FROM c_9.c__k)
      ) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_3.k
        AND keys_4.c__k IS NOT DISTINCT FROM c_5.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 10: UPD(a__x, a__y; assigns b__z, c__w) from d_rec__c
-- guard: d_rec__c has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b_2.b__k, c_2.c__k
  FROM (
    SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z
    FROM t1 AS b
    UNION ALL
    SELECT d_minus__b.b__k, d_minus__b.b__v, d_minus__b.b__z
    FROM d_minus__b
  ) AS b_2
  JOIN (
    SELECT c.k AS c__k, c.w AS c__w
    FROM t2 AS c
    UNION ALL
    SELECT d_minus__c.c__k, d_minus__c.c__w
    FROM d_minus__c
  ) AS c_2 ON c_2.c__w < b_2.b__v
  WHERE EXISTS(SELECT 1 FROM d_rec__c WHERE d_rec__c.c__k IS NOT DISTINCT FROM c_2.c__k)) AS keys
LEFT JOIN (
  SELECT b_3.k AS b__k, b_3.v AS b__v, b_3.z AS b__z, c_5.k AS c__k, c_5.w AS c__w
  FROM t1 AS b_3
  JOIN t2 AS c_5 ON c_5.w < b_3.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.b__k, c_4.c__k
        FROM (
          SELECT b_4.k AS b__k, b_4.v AS b__v, b_4.z AS b__z
          FROM t1 AS b_4
          UNION ALL
          SELECT d_minus__b_2.b__k, d_minus__b_2.b__v, d_minus__b_2.b__z
          FROM d_minus__b AS d_minus__b_2
        ) AS b_5
        JOIN (
          SELECT c_3.k AS c__k, c_3.w AS c__w
          FROM t2 AS c_3
          UNION ALL
          SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
          FROM d_minus__c AS d_minus__c_2
        ) AS c_4 ON c_4.c__w < b_5.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_rec__c AS d_rec__c_2 WHERE d_rec__c_2.c__k IS NOT DISTINCT FROM c_4.c__k)
      ) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_7.b__k, c_7.c__k
        FROM (
          SELECT b_6.k AS b__k, b_6.v AS b__v, b_6.z AS b__z
          FROM t1 AS b_6
          UNION ALL
          SELECT d_minus__b_3.b__k, d_minus__b_3.b__v, d_minus__b_3.b__z
          FROM d_minus__b AS d_minus__b_3
        ) AS b_7
        JOIN (
          SELECT c_6.k AS c__k, c_6.w AS c__w
          FROM t2 AS c_6
          UNION ALL
          SELECT d_minus__c_3.c__k, d_minus__c_3.c__w
          FROM d_minus__c AS d_minus__c_3
        ) AS c_7 ON c_7.c__w < b_7.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_rec__c AS d_rec__c_3 WHERE d_rec__c_3.c__k IS NOT DISTINCT FROM c_7.c__k)
      ) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_5.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_9.b__k, c_9.c__k
        FROM (
          SELECT b_8.k AS b__k, b_8.v AS b__v, b_8.z AS b__z
          FROM t1 AS b_8
          UNION ALL
          SELECT d_minus__b_4.b__k, d_minus__b_4.b__v, d_minus__b_4.b__z
          FROM d_minus__b AS d_minus__b_4
        ) AS b_9
        JOIN (
          SELECT c_8.k AS c__k, c_8.w AS c__w
          FROM t2 AS c_8
          UNION ALL
          SELECT d_minus__c_4.c__k, d_minus__c_4.c__w
          FROM d_minus__c AS d_minus__c_4
        ) AS c_9 ON c_9.c__w < b_9.b__v
        WHERE
          EXISTS(SELECT 1 FROM d_rec__c AS d_rec__c_4 WHERE d_rec__c_4.c__k IS NOT DISTINCT FROM c_9.c__k)
      ) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_3.k
        AND keys_4.c__k IS NOT DISTINCT FROM c_5.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;

-- Δ-script (optimised)
-- i-diff 1: INS(a__k; assigns b__z, c__w, a__x, a__y) from d_ins__a
-- guard: d_ins__a has rows
SELECT d_ins__a.a__k, r.b__z, r.c__w, d_ins__a.a__x, d_ins__a.a__y
FROM d_ins__a
LEFT JOIN (
  SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z, c.k AS c__k, c.w AS c__w
  FROM t1 AS b
  JOIN t2 AS c ON c.w < b.v) AS r
  ON r.b__k = d_ins__a.a__x AND r.c__k = d_ins__a.a__y;
-- i-diff 2: DEL(a__k; knows a__x, a__y) from d_del__a
-- guard: d_del__a has rows
SELECT d_del__a.a__k, d_del__a.a__x, d_del__a.a__y FROM d_del__a;
-- i-diff 3: UPD(a__x, a__y; assigns b__z, c__w) from d_ins__b
-- guard: d_ins__b has rows
SELECT d_ins__b.b__k AS a__x, c.k AS a__y, d_ins__b.b__z, c.w AS c__w
FROM d_ins__b
JOIN t2 AS c ON c.w < d_ins__b.b__v
WHERE NOT d_ins__b.b__k IS NULL AND NOT c.k IS NULL;
-- i-diff 4: UPD(a__x, a__y; assigns b__z, c__w) from d_del__b
-- guard: d_del__b has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT d_del__b.b__k, c_2.c__k
  FROM d_del__b
  JOIN (
    SELECT c.k AS c__k, c.w AS c__w
    FROM t2 AS c
    UNION ALL
    SELECT d_minus__c.c__k, d_minus__c.c__w
    FROM d_minus__c
  ) AS c_2 ON c_2.c__w < d_del__b.b__v) AS keys
LEFT JOIN (
  SELECT d_plus__b.b__k, d_plus__b.b__v, d_plus__b.b__z, c_5.k AS c__k, c_5.w AS c__w
  FROM d_plus__b
  JOIN t2 AS c_5 ON c_5.w < d_plus__b.b__v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_del__b_2.b__k, c_4.c__k
        FROM d_del__b AS d_del__b_2
        JOIN (
          SELECT c_3.k AS c__k, c_3.w AS c__w
          FROM t2 AS c_3
          UNION ALL
          SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
          FROM d_minus__c AS d_minus__c_2
        ) AS c_4 ON c_4.c__w < d_del__b_2.b__v) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM d_plus__b.b__k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_del__b_3.b__k, c_7.c__k
        FROM d_del__b AS d_del__b_3
        JOIN (
          SELECT c_6.k AS c__k, c_6.w AS c__w
          FROM t2 AS c_6
          UNION ALL
          SELECT d_minus__c_3.c__k, d_minus__c_3.c__w
          FROM d_minus__c AS d_minus__c_3
        ) AS c_7 ON c_7.c__w < d_del__b_3.b__v) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_5.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_del__b_4.b__k, c_9.c__k
        FROM d_del__b AS d_del__b_4
        JOIN (
          SELECT c_8.k AS c__k, c_8.w AS c__w
          FROM t2 AS c_8
          UNION ALL
          SELECT d_minus__c_4.c__k, d_minus__c_4.c__w
          FROM d_minus__c AS d_minus__c_4
        ) AS c_9 ON c_9.c__w < d_del__b_4.b__v) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM d_plus__b.b__k
        AND keys_4.c__k IS NOT DISTINCT FROM c_5.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 5: UPD(a__x, a__y; assigns b__z, c__w) from d_upd__b
-- guard: d_upd__b has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (SELECT DISTINCT d_upd__b.b__k, c.k AS c__k FROM d_upd__b JOIN t2 AS c ON c.w < d_upd__b.b__v) AS keys
LEFT JOIN (
  SELECT d_plus__b.b__k, d_plus__b.b__v, d_plus__b.b__z, c_3.k AS c__k, c_3.w AS c__w
  FROM d_plus__b
  JOIN t2 AS c_3 ON c_3.w < d_plus__b.b__v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_upd__b_2.b__k, c_2.k AS c__k
        FROM d_upd__b AS d_upd__b_2
        JOIN t2 AS c_2 ON c_2.w < d_upd__b_2.b__v) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM d_plus__b.b__k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_upd__b_3.b__k, c_4.k AS c__k
        FROM d_upd__b AS d_upd__b_3
        JOIN t2 AS c_4 ON c_4.w < d_upd__b_3.b__v) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_upd__b_4.b__k, c_5.k AS c__k
        FROM d_upd__b AS d_upd__b_4
        JOIN t2 AS c_5 ON c_5.w < d_upd__b_4.b__v) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM d_plus__b.b__k
        AND keys_4.c__k IS NOT DISTINCT FROM c_3.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 6: UPD(a__x, a__y; assigns b__z, c__w) from d_rec__b
-- guard: d_rec__b has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT d_rec__b.b__k, c_2.c__k
  FROM d_rec__b
  JOIN (
    SELECT c.k AS c__k, c.w AS c__w
    FROM t2 AS c
    UNION ALL
    SELECT d_minus__c.c__k, d_minus__c.c__w
    FROM d_minus__c
  ) AS c_2 ON c_2.c__w < d_rec__b.b__v) AS keys
LEFT JOIN (
  SELECT d_plus__b.b__k, d_plus__b.b__v, d_plus__b.b__z, c_5.k AS c__k, c_5.w AS c__w
  FROM d_plus__b
  JOIN t2 AS c_5 ON c_5.w < d_plus__b.b__v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_rec__b_2.b__k, c_4.c__k
        FROM d_rec__b AS d_rec__b_2
        JOIN (
          SELECT c_3.k AS c__k, c_3.w AS c__w
          FROM t2 AS c_3
          UNION ALL
          SELECT d_minus__c_2.c__k, d_minus__c_2.c__w
          FROM d_minus__c AS d_minus__c_2
        ) AS c_4 ON c_4.c__w < d_rec__b_2.b__v) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM d_plus__b.b__k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_rec__b_3.b__k, c_7.c__k
        FROM d_rec__b AS d_rec__b_3
        JOIN (
          SELECT c_6.k AS c__k, c_6.w AS c__w
          FROM t2 AS c_6
          UNION ALL
          SELECT d_minus__c_3.c__k, d_minus__c_3.c__w
          FROM d_minus__c AS d_minus__c_3
        ) AS c_7 ON c_7.c__w < d_rec__b_3.b__v) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM c_5.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT d_rec__b_4.b__k, c_9.c__k
        FROM d_rec__b AS d_rec__b_4
        JOIN (
          SELECT c_8.k AS c__k, c_8.w AS c__w
          FROM t2 AS c_8
          UNION ALL
          SELECT d_minus__c_4.c__k, d_minus__c_4.c__w
          FROM d_minus__c AS d_minus__c_4
        ) AS c_9 ON c_9.c__w < d_rec__b_4.b__v) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM d_plus__b.b__k
        AND keys_4.c__k IS NOT DISTINCT FROM c_5.k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 7: UPD(a__x, a__y; assigns b__z, c__w) from d_ins__c
-- guard: d_ins__c has rows
SELECT b.k AS a__x, d_ins__c.c__k AS a__y, b.z AS b__z, d_ins__c.c__w
FROM d_ins__c
JOIN t1 AS b ON d_ins__c.c__w < b.v
WHERE NOT b.k IS NULL AND NOT d_ins__c.c__k IS NULL;
-- i-diff 8: UPD(a__x, a__y; assigns b__z, c__w) from d_del__c
-- guard: d_del__c has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b_2.b__k, d_del__c.c__k
  FROM (
    SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z
    FROM t1 AS b
    UNION ALL
    SELECT d_minus__b.b__k, d_minus__b.b__v, d_minus__b.b__z
    FROM d_minus__b
  ) AS b_2
  JOIN d_del__c ON d_del__c.c__w < b_2.b__v) AS keys
LEFT JOIN (
  SELECT b_3.k AS b__k, b_3.v AS b__v, b_3.z AS b__z, d_plus__c.c__k, d_plus__c.c__w
  FROM t1 AS b_3
  JOIN d_plus__c ON d_plus__c.c__w < b_3.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.b__k, d_del__c_2.c__k
        FROM (
          SELECT b_4.k AS b__k, b_4.v AS b__v, b_4.z AS b__z
          FROM t1 AS b_4
          UNION ALL
          SELECT d_minus__b_2.b__k, d_minus__b_2.b__v, d_minus__b_2.b__z
          FROM d_minus__b AS d_minus__b_2
        ) AS b_5
        JOIN d_del__c AS d_del__c_2 ON d_del__c_2.c__w < b_5.b__v) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_7.b__k, d_del__c_3.c__k
        FROM (
          SELECT b_6.k AS b__k, b_6.v AS b__v, b_6.z AS b__z
          FROM t1 AS b_6
          UNION ALL
          SELECT d_minus__b_3.b__k, d_minus__b_3.b__v, d_minus__b_3.b__z
          FROM d_minus__b AS d_minus__b_3
        ) AS b_7
        JOIN d_del__c AS d_del__c_3 ON d_del__c_3.c__w < b_7.b__v) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM d_plus__c.c__k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_9.b__k, d_del__c_4.c__k
        FROM (
          SELECT b_8.k AS b__k, b_8.v AS b__v, b_8.z AS b__z
          FROM t1 AS b_8
          UNION ALL
          SELECT d_minus__b_4.b__k, d_minus__b_4.b__v, d_minus__b_4.b__z
          FROM d_minus__b AS d_minus__b_4
        ) AS b_9
        JOIN d_del__c AS d_del__c_4 ON d_del__c_4.c__w < b_9.b__v) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_3.k
        AND keys_4.c__k IS NOT DISTINCT FROM d_plus__c.c__k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 9: UPD(a__x, a__y; assigns b__z, c__w) from d_rec__c
-- guard: d_rec__c has rows
SELECT keys.b__k AS a__x, keys.c__k AS a__y, r.b__z, r.c__w
FROM (
  SELECT DISTINCT b_2.b__k, d_rec__c.c__k
  FROM (
    SELECT b.k AS b__k, b.v AS b__v, b.z AS b__z
    FROM t1 AS b
    UNION ALL
    SELECT d_minus__b.b__k, d_minus__b.b__v, d_minus__b.b__z
    FROM d_minus__b
  ) AS b_2
  JOIN d_rec__c ON d_rec__c.c__w < b_2.b__v) AS keys
LEFT JOIN (
  SELECT b_3.k AS b__k, b_3.v AS b__v, b_3.z AS b__z, d_plus__c.c__k, d_plus__c.c__w
  FROM t1 AS b_3
  JOIN d_plus__c ON d_plus__c.c__w < b_3.v
  WHERE
    EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_5.b__k, d_rec__c_2.c__k
        FROM (
          SELECT b_4.k AS b__k, b_4.v AS b__v, b_4.z AS b__z
          FROM t1 AS b_4
          UNION ALL
          SELECT d_minus__b_2.b__k, d_minus__b_2.b__v, d_minus__b_2.b__z
          FROM d_minus__b AS d_minus__b_2
        ) AS b_5
        JOIN d_rec__c AS d_rec__c_2 ON d_rec__c_2.c__w < b_5.b__v) AS keys_2
      WHERE NOT keys_2.b__k IS NULL AND NOT keys_2.c__k IS NULL AND keys_2.b__k IS NOT DISTINCT FROM b_3.k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_7.b__k, d_rec__c_3.c__k
        FROM (
          SELECT b_6.k AS b__k, b_6.v AS b__v, b_6.z AS b__z
          FROM t1 AS b_6
          UNION ALL
          SELECT d_minus__b_3.b__k, d_minus__b_3.b__v, d_minus__b_3.b__z
          FROM d_minus__b AS d_minus__b_3
        ) AS b_7
        JOIN d_rec__c AS d_rec__c_3 ON d_rec__c_3.c__w < b_7.b__v) AS keys_3
      WHERE NOT keys_3.b__k IS NULL AND NOT keys_3.c__k IS NULL AND keys_3.c__k IS NOT DISTINCT FROM d_plus__c.c__k)
    AND EXISTS(
      SELECT 1
      FROM (
        SELECT DISTINCT b_9.b__k, d_rec__c_4.c__k
        FROM (
          SELECT b_8.k AS b__k, b_8.v AS b__v, b_8.z AS b__z
          FROM t1 AS b_8
          UNION ALL
          SELECT d_minus__b_4.b__k, d_minus__b_4.b__v, d_minus__b_4.b__z
          FROM d_minus__b AS d_minus__b_4
        ) AS b_9
        JOIN d_rec__c AS d_rec__c_4 ON d_rec__c_4.c__w < b_9.b__v) AS keys_4
      WHERE
        NOT keys_4.b__k IS NULL
        AND NOT keys_4.c__k IS NULL
        AND keys_4.b__k IS NOT DISTINCT FROM b_3.k
        AND keys_4.c__k IS NOT DISTINCT FROM d_plus__c.c__k
    )
) AS r ON r.b__k = keys.b__k AND r.c__k = keys.c__k
WHERE NOT keys.b__k IS NULL AND NOT keys.c__k IS NULL;
-- i-diff 10: REC(a__k; knows a__x, a__y) from d_rec__a
-- guard: d_rec__a has rows
SELECT d_rec__a.a__k, d_rec__a.a__x, d_rec__a.a__y FROM d_rec__a;
